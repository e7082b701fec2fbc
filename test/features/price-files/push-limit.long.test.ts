import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../support/ports.ts'
import { push } from './push-support.ts'
import { type SupplierPlatform, startPlatform, writePriceFile } from './support.ts'

const LIMIT = 20
const WINDOW_MS = 4_000
const WINDOWS = 3

let platform: SupplierPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

/** A platform that accepts a limited number of requests in any window, and says how long to wait before another one. */
async function limitedPlatform() {
  const times: number[] = []
  let uploads = 0
  let refused = 0
  const server = await serve((req, res) => {
    req.resume()
    res.setHeader('content-type', 'application/json')
    if (req.url?.startsWith('/accounts'))
      return void res.end('{"accessToken":"a","refreshToken":"r","expiresIn":600}')
    const now = performance.now()
    const oldest = times.filter((time) => time > now - WINDOW_MS).at(-LIMIT)
    if (oldest !== undefined) {
      refused++
      const seconds = Math.ceil((oldest + WINDOW_MS - now) / 1_000)
      return void res.writeHead(429, { 'retry-after': String(seconds) }).end()
    }
    times.push(now)
    if (req.url?.endsWith('/items')) uploads++
    req.on('end', () => {
      if (req.url?.startsWith('/catalogues?')) res.end('[{"id":"1","name":"C","scope":"Public"}]')
      else res.end('{"status":"Completed","batchId":"b"}')
    })
  })
  return { ...server, uploads: () => uploads, refused: () => refused }
}

describe('at the platform’s limit, scaled down', () => {
  test.concurrent.each([
    ['1 process', ['']],
    ['2 processes with one credential', ['', '']],
    ['2 processes for two tenants of one subscription key', ['north', 'south']],
  ])('%s: each batch is accepted once, and a refusal is waited out', async (name, tenants) => {
    const server = await limitedPlatform()
    const batches = LIMIT * WINDOWS
    const path = await writePriceFile(platform.dir, (batches * 1000) / tenants.length, `${name}.csv`)
    const env = {
      DATA_DIR: `${platform.dir}/data of ${name}`,
      PLATFORM_API_URL: `http://127.0.0.1:${server.port}`,
    }
    const programs = tenants.map((tenant) =>
      push(platform, [path, '--catalogue', 'C'], { ...env, PLATFORM_TENANT_ID: tenant }),
    )
    for (const program of programs) expect(await program.exited, program.output()).toBe(0)
    expect(server.uploads()).toBe(batches)
    // Each process asks once more in vain for each time that the limit is reached, and not again before it may.
    expect(server.refused()).toBeLessThanOrEqual(tenants.length * 4 * WINDOWS)
    await server.close()
  })
})
