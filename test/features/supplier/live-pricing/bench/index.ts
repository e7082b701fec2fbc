/** The rows of the table that are about live pricing: 1,000,000 items, 2,000 stores, on disk. */
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { type Add, compare, type Measured, medianOf } from '../../../../bench/measure.ts'
import { tempDir, testEnv } from '../../../../support/env.ts'
import { freePort } from '../../../../support/ports.ts'
import { answering, run } from '../../../../support/process.ts'
import { itemCode, storeId, writePriceFolder } from './price-folder.ts'

const ITEMS = 1_000_000
const STORES = 2_000
const CALLERS = 16
const LOAD = 'src/features/supplier/live-pricing/cli-load-prices.ts'
const LOAD_BY_HAND = 'test/features/supplier/live-pricing/bench/load-by-hand.ts'

export async function bench(add: Add): Promise<void> {
  const [{ dir, remove }, folder] = [tempDir(), tempDir()]
  writePriceFolder(folder.dir, { items: ITEMS, stores: STORES })
  await loadBench(add, folder.dir, dir)
  folder.remove()
  await pricesBench(add, dir)
  remove()
}

/** The database that the yardstick has loaded. */
const byHandFile = (dataDir: string) => join(dataDir, 'by-hand.sqlite')

async function timeOf(script: string, env: Record<string, string>, args: string[] = []): Promise<number> {
  const started = performance.now()
  const program = run(script, env, { args })
  if ((await program.exited) !== 0) throw new Error(program.output())
  return performance.now() - started
}

async function loadBench(add: Add, folder: string, dataDir: string): Promise<void> {
  const rounds: Measured[] = []
  for (let round = 0; round < 3; round++) {
    const subject = (await timeOf(LOAD, { DATA_DIR: dataDir }, [folder])) / 1000
    const yardstick = (await timeOf(LOAD_BY_HAND, { FOLDER: folder, FILE: byHandFile(dataDir) })) / 1000
    rounds.push({ subject, yardstick, ratio: subject / yardstick })
  }
  const measure = '`npm run feature -- live-pricing load-prices`, 1,000,000 rows'
  add(measure, 'csv-parse and a bare prepared insert', medianOf(rounds), '<= 1.5x', 's')
}

async function startServer(dataDir: string) {
  const port = await freePort()
  const clients = { LIVE_PRICING_CLIENTS: 'bench:bench-secret', LIVE_PRICING_RATE_LIMIT: '0' }
  const env = testEnv({ PORT: String(port), DATA_DIR: dataDir, ...clients })
  const program = run('src/features/supplier/live-pricing/cli-serve.ts', env, { stdout: '/dev/null' })
  await answering(`http://localhost:${port}/health/live`, program)
  const url = `http://localhost:${port}/live-pricing`
  const grant = { grant_type: 'client_credentials', client_id: 'bench', client_secret: 'bench-secret' }
  const answer = await fetch(`${url}/connect/token`, { method: 'POST', body: new URLSearchParams(grant) })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  return { url, token, program }
}

const any = (below: number) => Math.floor(Math.random() * below)

/** Asks for the prices of fifty items. */
async function askPrices(url: string, token: string, dispatcher: Agent): Promise<void> {
  const line = (item: number) => ({
    itemId: itemCode(item),
    storeId: storeId(item % STORES),
    quantity: ((item % 1000) + 1) / 10,
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const content = { memberNumber: 'CUST1001', items: Array.from({ length: 50 }, () => line(any(ITEMS))) }
  const options = { method: 'POST', headers, body: JSON.stringify(content), dispatcher } as const
  const { statusCode, body } = await request(`${url}/request-prices`, options)
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${text}`)
}

async function pricesBench(add: Add, dataDir: string): Promise<void> {
  const { url, token, program } = await startServer(dataDir)
  const dispatcher = new Agent({ connections: CALLERS })
  const port = await freePort()
  const script = 'test/features/supplier/live-pricing/bench/by-hand.ts'
  const byHand = run(script, { PORT: String(port), FILE: byHandFile(dataDir) })
  await answering(`http://localhost:${port}/health/live`, byHand)
  const ours = { call: () => askPrices(url, token, dispatcher), pid: program.child.pid }
  const bare = {
    call: () => askPrices(`http://localhost:${port}`, token, dispatcher),
    pid: byHand.child.pid,
  }
  const measured = await compare(CALLERS, ours, bare)
  add('`POST /request-prices`, 50 items', 'the same work by hand with SQLite', measured, '>= 0.4')
  await Promise.all([program.kill(), byHand.kill(), dispatcher.destroy()])
}
