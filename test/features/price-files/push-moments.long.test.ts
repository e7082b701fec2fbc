import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serve } from '../../support/ports.ts'
import { fileIn, GOOD, printed, push, pushed } from './push-support.ts'
import { type SupplierPlatform, startPlatform, writePriceFile } from './support.ts'

let platform: SupplierPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

describe('two files at once into one catalogue', () => {
  test('are sent one after the other, and the second says that it waits', async () => {
    await pushed(platform, [fileIn(platform, GOOD), '--catalogue', 'C', '--scope', 'Public'])
    const [first, second] = [await writePriceFile(platform.dir, 60_000), fileIn(platform, GOOD, 'second.csv')]
    const { promise: seen, resolve: release } = Promise.withResolvers<void>()
    const line = await behind(platform.env.PLATFORM_API_URL ?? '', (path) =>
      path.endsWith('/items') ? seen : undefined,
    )
    const large = push(platform, [first, '--catalogue', 'C'], { PLATFORM_API_URL: line.apiUrl })
    await printed(large, 'Starting import')
    const small = push(platform, [second, '--catalogue', 'C'])
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
  const path = fileIn(platform, GOOD)
  const args = [path, '--catalogue', 'Slow', '--scope', 'Public']
  const both = [1, 2].map(() => pushed(platform, args, { PLATFORM_API_URL: slow.apiUrl }))
  for (const { code, output } of await Promise.all(both)) expect(code, output).toBe(0)
  const { code, output } = await pushed(platform, [path, '--catalogue', 'Slow'])
  expect(code, output).toBe(0)
  await slow.close()
})
