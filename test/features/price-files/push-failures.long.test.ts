import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileIn, GOOD, printed, push, pushed } from './push-support.ts'
import { type SupplierPlatform, startPlatform } from './support.ts'

const TO_NEW = ['--catalogue', 'C', '--scope', 'Public']

let platform: SupplierPlatform
let args: string[]
beforeEach(async () => {
  platform = await startPlatform()
  args = [fileIn(platform, GOOD), ...TO_NEW]
})
afterEach(() => platform.close())

describe('push-catalogue', () => {
  test('also waits for a platform that fails before the import', async () => {
    await platform.fault('catalogues', '500', 4)
    const { code, output } = await pushed(platform, args)
    expect(output).toContain('Retrying: the API answered 500')
    expect(code).toBe(0)
  })

  test('stopped by Ctrl-C says how to resume, and resumes the same import', async () => {
    await platform.fault('items', '429', undefined, 1)
    const program = push(platform, args)
    await printed(program, 'tries again automatically')
    program.child.kill('SIGINT')
    expect(await program.exited).toBe(1)
    expect(program.output()).toContain('Run the same command again')
    const [, batch = '?'] = /Starting import (\S+)/.exec(program.output()) ?? []
    await platform.fault('items', 'none')
    const again = await pushed(platform, args)
    expect(again.output).toContain(`Resuming import ${batch}`)
    expect(again.code).toBe(0)
    expect((await pushed(platform, args)).output).toContain('Starting import')
  })

  test.each([
    ['rejects a token twice', 'items', 'expired', 'The platform rejected the request'],
    ['forbids uploads', 'items', 'forbidden', 'The API key is not allowed to do this (403)'],
    ['forbids catalogues', 'catalogues', 'forbidden', 'The API key is not allowed to do this (403)'],
    ['fails the import', 'import', 'failed', 'could not complete'],
    ['answers a login with garbage', 'login', 'garbage', 'Completed'],
    ['completes the import', 'import', 'none', 'Completed'],
  ])('prints no key and no token when the platform %s', async (_name, endpoint, fault, words) => {
    await platform.fault(endpoint, fault, ...(fault === 'none' ? [] : [endpoint === 'login' ? 1 : 2]))
    const program = push(platform, args)
    // 0 only if the platform has completed the import.
    expect(await program.exited).toBe(words === 'Completed' ? 0 : 1)
    expect(program.output()).toContain(words)
    expect(program.output().includes('Completed: ')).toBe(words === 'Completed')
    expect(program.output()).not.toMatch(/sandbox-(api|subscription)-key|fp_|bearer/i)
  })
})
