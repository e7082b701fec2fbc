import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { answering, command, type Program, run } from '../../support/process.ts'
import { type Files, SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
let program: Program | undefined
afterEach(async () => {
  await program?.kill()
  remove()
})

const SERVE = 'src/features/live-pricing/cli-serve.ts'

async function start(env: Record<string, string>) {
  const port = String(await freePort())
  program = run(SERVE, { DATA_DIR: join(dir, 'data'), PORT: port, ...env })
  const url = `http://localhost:${port}`
  await answering(`${url}/health/live`, program)
  return url
}
async function token(base: string, client: string, secret: string): Promise<string | undefined> {
  const grant = { grant_type: 'client_credentials', client_id: client, client_secret: secret }
  const body = new URLSearchParams(grant)
  const answer = await fetch(`${base}/connect/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token?: string }).access_token
}
async function unitPrice(base: string, access: string | undefined): Promise<unknown> {
  const answer = await fetch(`${base}/request-prices`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    body: JSON.stringify({ items: [{ itemId: 'A', storeId: 'S1', quantity: 1 }] }),
  })
  if (!answer.ok) return answer.status
  const [{ unitPrice, errorCode }] = (await answer.json()) as [{ unitPrice: unknown; errorCode?: string }]
  return unitPrice ?? errorCode
}

const CLIENTS = {
  LIVE_PRICING_CLIENTS: 'p:secret-of-production',
  LIVE_PRICING_STAGING_CLIENTS: 'p:secret-of-staging',
}
const load = (environment: keyof typeof PRICE_LIST_FOLDERS, files: Files) =>
  loadPriceList(writeFiles(join(dir, environment), files), join(dir, 'data', PRICE_LIST_FOLDERS[environment]))

describe('npm run feature -- live-pricing serve', () => {
  test('serves only live pricing, without platform settings: ready once it has prices, with staging and production apart', async () => {
    const url = await start(CLIENTS)
    const [live, staging] = [`${url}/live-pricing`, `${url}/live-pricing-staging`]
    expect((await fetch(`${url}/connections`, { redirect: 'manual' })).status).toBe(404)
    expect((await fetch(live)).status).toBe(200)
    expect(await token(live, 'p', 'secret-of-staging')).toBeUndefined()
    const [ofLive, ofStaging] = [
      await token(live, 'p', 'secret-of-production'),
      await token(staging, 'p', 'secret-of-staging'),
    ]
    expect(await unitPrice(live, ofLive)).toBe('price_unavailable')
    const paths = ['/health/ready', '/live-pricing/health/ready', '/live-pricing-staging/health/ready']
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(url + path)).status))
    expect(await statuses()).toEqual([503, 503, 503])
    await load('production', SMALL)
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 503]), 5_000)
    const items = ['code,price', 'A,1', 'B,1', 'D,1']
    await load('staging', { ...SMALL, items, discounts: ['item,percent'] })
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 200]), 5_000)
    expect([await unitPrice(live, ofLive), await unitPrice(staging, ofStaging)]).toEqual([12.5, 1])
    expect([await unitPrice(live, ofStaging), await unitPrice(staging, ofLive)]).toEqual([401, 401])
  })

  test('does not start without callers, and says which setting is missing', async () => {
    expect(await command(SERVE, { DATA_DIR: dir, PORT: '3999' })).toEqual({
      code: 1,
      output: 'The settings have a problem: LIVE_PRICING_CLIENTS is required (id:secret for each client)\n',
    })
  })
})
