import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../../support/ports.ts'
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

describe('two files at once into one catalogue', () => {
  test('are sent one after the other, and the second says that it waits', async () => {
    await pushed(platform, [platform.write(GOOD), '--catalogue', 'C', '--scope', 'Public'])
    const [first, second] = [platform.write(priceFile(60_000)), platform.write(GOOD, 'second.csv')]
    const { promise: seen, resolve: release } = Promise.withResolvers<void>()
    const line = await behind(platform.env.PLATFORM_API_URL ?? '', (path) =>
      path.endsWith('/items') ? seen : undefined,
    )
    const large = await push(platform, [first, '--catalogue', 'C'], { PLATFORM_API_URL: line.apiUrl })
    await printed(large, 'Starting import')
    const small = await push(platform, [second, '--catalogue', 'C'])
    await printed(small, 'Imports into one catalogue run one after the other')
    release()
    await printed(small, 'Completed: ')
    expect(large.output()).toContain('Completed: 60,000 items')
    await line.close()
  })
})

/** A platform's API behind a line, whose answers wait for `wait`. */
async function behind(apiUrl: string, wait: (path: string) => Promise<void> | undefined) {
  const { server, port, close } = await serve()
  server.on('request', async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = req.headers
    const answer = await fetch(new URL(apiUrl).origin + req.url, {
      method: req.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const body = Buffer.from(await answer.arrayBuffer())
    await wait(req.url?.split('?')[0] ?? '')
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body)
  })
  return { apiUrl: `http://127.0.0.1:${port}${new URL(apiUrl).pathname}`, close }
}

test('push-catalogue run twice at once on a slow platform creates the catalogue once', async () => {
  const slow = await behind(platform.env.PLATFORM_API_URL ?? '', () => setTimeout(2_500))
  const path = platform.write(GOOD)
  const args = [path, '--catalogue', 'Slow', '--scope', 'Public']
  const both = [1, 2].map(() => pushed(platform, args, { PLATFORM_API_URL: slow.apiUrl }))
  for (const { code, output } of await Promise.all(both)) expect(code, output).toBe(0)
  const { code, output } = await pushed(platform, [path, '--catalogue', 'Slow'])
  expect(code, output).toBe(0)
  await slow.close()
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
