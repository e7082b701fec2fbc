import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { loadPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import { priceListFolder } from '../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { tempDir } from '../../../support/env.ts'
import { freePort } from '../../../support/ports.ts'
import { answering, command, type Program, run } from '../../../support/process.ts'
import { form, GRANT, line, SMALL, writeFiles } from './support.ts'

const { dir, remove } = tempDir()
let program: Program | undefined
afterEach(async () => {
  await program?.kill()
  remove()
})

const SERVE = 'src/features/supplier/live-pricing/cli-serve.ts'

async function token(base: string, client_secret: string): Promise<string | undefined> {
  const grant = form({ ...GRANT, client_id: 'p', client_secret })
  const answer = await fetch(`${base}/connect/token`, { method: 'POST', ...grant })
  return ((await answer.json()) as { access_token?: string }).access_token
}
async function unitPrice(base: string, access: string | undefined): Promise<unknown> {
  const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ items: [line('A')] })
  const answer = await fetch(`${base}/request-prices`, { method: 'POST', headers, body })
  if (!answer.ok) return answer.status
  const [{ unitPrice, errorCode }] = (await answer.json()) as [{ unitPrice: unknown; errorCode?: string }]
  return unitPrice ?? errorCode
}
describe('npm run feature -- live-pricing serve', () => {
  test('serves only live pricing, without platform settings, and is ready once it has prices', async () => {
    const port = String(await freePort())
    const data = join(dir, 'data')
    program = run(SERVE, { DATA_DIR: data, PORT: port, LIVE_PRICING_CLIENTS: 'p:a-secret' })
    const url = `http://localhost:${port}`
    await answering(`${url}/health/live`, program)
    const live = `${url}/live-pricing`
    expect((await fetch(`${url}/connections`, { redirect: 'manual' })).status).toBe(404)
    expect(await token(live, 'other')).toBeUndefined()
    const access = await token(live, 'a-secret')
    expect(await unitPrice(live, access)).toBe('price_unavailable')
    const paths = ['/health/ready', '/live-pricing/health/ready']
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(url + path)).status))
    expect(await statuses()).toEqual([503, 503])
    await loadPriceList(writeFiles(join(dir, 'csv'), SMALL), priceListFolder(data))
    await expect.poll(statuses).toEqual([200, 200])
    expect([await unitPrice(live, access), await unitPrice(live, 'other')]).toEqual([12.5, 401])
  })

  test('does not start without callers, and says which setting is missing', async () => {
    expect(await command(SERVE, { DATA_DIR: dir, PORT: '3999' })).toEqual({
      code: 1,
      output: 'The settings have a problem: LIVE_PRICING_CLIENTS is required (id:secret for each client)\n',
    })
  })
})
