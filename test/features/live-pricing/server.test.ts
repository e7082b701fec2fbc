import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { loadPriceList } from '../../../src/features/live-pricing/csv-price-provider/load.ts'
import { PRICE_LIST_FOLDERS } from '../../../src/features/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { answering, command, type Program, run } from '../../support/process.ts'
import { SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
let program: Program | undefined
afterEach(async () => {
  await program?.kill()
  remove()
})

async function start(env: Record<string, string>, script = 'src/features/live-pricing/cli-serve.ts') {
  const port = String(await freePort())
  program = run(script, { DATA_DIR: join(dir, 'data'), PORT: port, ...env })
  const url = `http://localhost:${port}`
  await answering(`${url}/health/live`, program)
  return url
}
async function token(base: string, client: string, secret: string): Promise<string | undefined> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client,
    client_secret: secret,
  })
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

describe('npm run feature -- live-pricing serve', () => {
  test('serves only the live pricing API, without platform settings; it is ready once production has prices', async () => {
    const url = await start({
      LIVE_PRICING_CLIENTS: 'p:secret-of-production',
      LIVE_PRICING_STAGING_CLIENTS: 'p:secret-of-staging',
    })
    expect((await fetch(`${url}/connections`, { redirect: 'manual' })).status).toBe(404)
    expect((await fetch(`${url}/live-pricing`)).status).toBe(200)
    const access = await token(`${url}/live-pricing`, 'p', 'secret-of-production')
    expect(await unitPrice(`${url}/live-pricing`, access)).toBe('price_unavailable')
    const paths = ['/health/ready', '/live-pricing/health/ready', '/live-pricing-staging/health/ready']
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(url + path)).status))
    expect(await statuses()).toEqual([503, 503, 503])
    const csv = writeFiles(join(dir, 'csv'), SMALL)
    await loadPriceList(csv, join(dir, 'data', PRICE_LIST_FOLDERS.production))
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 503]), 5_000)
    expect(await unitPrice(`${url}/live-pricing`, access)).toBe(12.5)
    await loadPriceList(csv, join(dir, 'data', PRICE_LIST_FOLDERS.staging))
    await vi.waitFor(async () => expect(await statuses()).toEqual([200, 200, 200]), 5_000)
  })

  test('keeps staging and production apart: callers, tokens and prices', async () => {
    const lists = join(dir, 'data')
    await loadPriceList(writeFiles(join(dir, 'csv'), SMALL), join(lists, PRICE_LIST_FOLDERS.production))
    const cheap = { ...SMALL, items: ['code,price', 'A,1', 'B,1', 'D,1'], discounts: ['item,percent'] }
    await loadPriceList(writeFiles(join(dir, 'csv2'), cheap), join(lists, PRICE_LIST_FOLDERS.staging))
    const url = await start({
      LIVE_PRICING_CLIENTS: 'p:secret-of-production',
      LIVE_PRICING_STAGING_CLIENTS: 'p:secret-of-staging',
    })
    const [live, staging] = [`${url}/live-pricing`, `${url}/live-pricing-staging`]
    expect(await token(live, 'p', 'secret-of-staging')).toBeUndefined()
    const [liveToken, stagingToken] = [
      await token(live, 'p', 'secret-of-production'),
      await token(staging, 'p', 'secret-of-staging'),
    ]
    expect([await unitPrice(live, liveToken), await unitPrice(staging, stagingToken)]).toEqual([12.5, 1])
    expect([await unitPrice(live, stagingToken), await unitPrice(staging, liveToken)]).toEqual([401, 401])
  })

  test('does not start without callers, and says which setting is missing', async () => {
    const script = 'src/features/live-pricing/cli-serve.ts'
    const { code, output } = await command(script, { DATA_DIR: dir, PORT: '3999' })
    expect(code).toBe(1)
    expect(output).toBe(
      'The settings have a problem: LIVE_PRICING_CLIENTS is required (id:secret for each client)\n',
    )
  })
})
