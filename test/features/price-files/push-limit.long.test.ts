import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { median } from '../../bench/measure.ts'
import { serve } from '../../support/ports.ts'
import { push } from './push-support.ts'
import { type SupplierPlatform, startPlatform, writePriceFile } from './support.ts'

const LIMIT = 20
/** So long that the time of an answer on a busy machine is a small part of it. */
const WINDOW_MS = 4_000
const WINDOWS = 3
/** The platform's own window, in ms: a request that this machine delivers late is not one too many. */
const ENFORCED_MS = 0.9 * WINDOW_MS

let platform: SupplierPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

/** A platform that accepts a limited number of requests in any window and counts those that it rejects. */
async function limitedPlatform() {
  const times: number[] = []
  let refused = 0
  const server = await serve((req, res) => {
    req.resume()
    res.setHeader('content-type', 'application/json')
    if (req.url?.startsWith('/accounts'))
      return void res.end('{"accessToken":"a","refreshToken":"r","expiresIn":600}')
    const now = performance.now()
    if (times.filter((time) => time > now - ENFORCED_MS).length >= LIMIT) {
      refused++
      return void res.writeHead(429, { 'retry-after': '1' }).end()
    }
    times.push(now)
    req.on('end', () => {
      if (req.url?.startsWith('/catalogues?')) res.end('[{"id":"1","name":"C","scope":"Public"}]')
      else res.end('{"status":"Completed","batchId":"b"}')
    })
  })
  return { ...server, times, refused: () => refused }
}

describe('at the platform’s limit, scaled down', () => {
  test.concurrent.each([
    ['1 process', ['']],
    ['2 processes with one credential', ['', '']],
    ['2 processes for two tenants of one subscription key', ['north', 'south']],
  ])('%s: the whole limit is used and never exceeded', async (name, tenants) => {
    const processes = tenants.length
    const server = await limitedPlatform()
    const rows = (LIMIT * WINDOWS * 1000) / processes
    const path = await writePriceFile(platform.dir, rows, `${name}.csv`)
    const env = {
      DATA_DIR: `${platform.dir}/data of ${name}`,
      PLATFORM_API_URL: `http://127.0.0.1:${server.port}`,
      PLATFORM_RATE_LIMIT: String(LIMIT),
      PLATFORM_RATE_WINDOW_SECONDS: String(WINDOW_MS / 1000),
    }
    const programs = tenants.map((tenant) =>
      push(platform, [path, '--catalogue', 'C'], { ...env, PLATFORM_TENANT_ID: tenant }),
    )
    for (const program of programs) expect(await program.exited, program.output()).toBe(0)
    expect(server.refused()).toBe(0)
    // In use to the full, each request comes one window after the one that had its permit before. The middle of
    // these cycles: a machine that stands still for a moment makes some of them longer.
    const times = server.times.toSorted((a, b) => a - b)
    const cycles = times.slice(LIMIT).map((time, at) => time - (times[at] ?? 0))
    const used = WINDOW_MS / median(cycles)
    // How close to 1 is measured by `npm run bench`; answers of a busy machine take a part of each window.
    expect(used).toBeGreaterThanOrEqual(0.8)
    expect(used).toBeLessThanOrEqual(1)
    await server.close()
  })
})
