import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GOOD, printed, push, pushed } from './push-support.ts'
import { itemsOfRows, priceFile, type SupplierPlatform, startPlatform } from './support.ts'

const TO_NEW = ['--catalogue', 'C', '--scope', 'Public']

let platform: SupplierPlatform
let args: string[]
beforeEach(async () => {
  platform = await startPlatform()
  args = [platform.write(GOOD), ...TO_NEW]
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
    const program = await push(platform, args)
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
    const program = await push(platform, args)
    // 0 only if the platform has completed the import.
    expect(await program.exited).toBe(words === 'Completed' ? 0 : 1)
    expect(program.output()).toContain(words)
    expect(program.output().includes('Completed: ')).toBe(words === 'Completed')
    expect(program.output()).not.toMatch(/sandbox-(api|subscription)-key|fp_|bearer/i)
  })
})

describe('two runs at once', () => {
  test('into one catalogue are sent one after the other, and the second says that it waits', async () => {
    await pushed(platform, args)
    await platform.fault('items', '429', undefined, 1)
    const first = await push(platform, args)
    await printed(first, 'tries again automatically')
    const second = await push(platform, [platform.write(GOOD, 'second.csv'), '--catalogue', 'C'])
    await printed(second, 'Imports into one catalogue run one after the other')
    expect(second.output()).not.toContain('Starting import')
    await platform.fault('items', 'none')
    await printed(second, 'Completed: ')
    expect(await first.exited).toBe(0)
  })

  test('create the catalogue once, however slow the platform is', async () => {
    const release = platform.hold('/catalogues')
    const both = await Promise.all([1, 2].map(() => push(platform, args)))
    await Promise.any(both.map((program) => printed(program, 'Imports into one catalogue run one after')))
    release()
    for (const program of both) expect(await program.exited, program.output()).toBe(0)
    // It would say that there are several.
    const { code, output } = await pushed(platform, args)
    expect(code, output).toBe(0)
  })
})

const ROWS = 12_000

test('push-catalogue killed at eight random moments and run again: the same items, none twice, none missing', async () => {
  const path = platform.write(priceFile(ROWS))
  // As text: a comparison of so many objects would take longer than the import.
  const text = (items: Iterable<object>) =>
    JSON.stringify([...items], ['code', 'name', 'unit', 'category', 'price'])
  const expected = text(itemsOfRows(ROWS).values())
  let interrupted = 0
  const round = async (number: number) => {
    const args = [path, '--catalogue', `C${number}`, '--scope', 'Public']
    const env = { DATA_DIR: join(platform.dir, `data-${number}`) }
    const killed = await push(platform, args, env)
    // A quarter anywhere from its start on, the others while it sends or shortly after.
    const sending = number % 4 > 0
    if (sending) await printed(killed, 'Starting import')
    await setTimeout(Math.random() * (sending ? 600 : 1500))
    if ((await killed.kill()) === 'SIGKILL' && sending) interrupted++
    const again = await push(platform, args, env)
    expect(await again.exited, again.output()).toBe(0)
    const id = (await platform.catalogueIds()).get(`C${number}`) ?? ''
    const found = await platform.items(id)
    expect(text(found.values()) === expected, `${found.size} items`).toBe(true)
  }
  for (let number = 0; number < 8; number += 4)
    await Promise.all([0, 1, 2, 3].map((more) => round(number + more)))
  expect(interrupted).toBeGreaterThan(2)
})
