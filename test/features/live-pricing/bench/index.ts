/** The rows of the table that are about live pricing: up to 4,000,000 items, 2,000 stores, on disk. */
import { join } from 'node:path'
import { Big } from 'big.js'
import { Agent, request } from 'undici'
import { bestDiscount } from '../../../../src/features/live-pricing/money.ts'
import { type Add, compare, type Measured, medianOf, memoryKb } from '../../../bench/measure.ts'
import { tempDir, testEnv } from '../../../support/env.ts'
import { freePort } from '../../../support/ports.ts'
import { answering, type Program, run } from '../../../support/process.ts'
import { itemCode, placeOf, storeId, writePriceFolder } from '../price-folder.ts'

const ITEMS = 1_000_000
/** Enough to price each item once: caches are of no use to requests for items that were never asked for. */
const WALK = { items: 4_000_000 }
const STORES = 2_000
const CALLERS = 16

export async function bench(add: Add): Promise<void> {
  const { dir, remove } = tempDir()
  const folder = tempDir()
  await writePriceFolder(folder.dir, { items: ITEMS, stores: STORES })
  await loadBench(add, folder.dir, dir)
  await memoryBench(add, dir)
  folder.remove()
  await callsBench(add, dir)
  remove()
  await discountsBench(add)
}

/** Discounts of one category, as they apply to each of its items. */
async function discountsBench(add: Add): Promise<void> {
  const values = Array.from({ length: 1600 }, (_, index) => String(index / 100))
  const reductions = values.map((value) => ({ kind: 'percent', value, approximate: Number(value) }) as const)
  const inDecimals = async () => {
    const gross = new Big('12.35').times(2.4)
    const discounts = values.map((value) => gross.times(value).times('0.01'))
    return discounts.reduce((best, discount) => (discount.gt(best) ? discount : best)).round(2)
  }
  add(
    'the best of 1,600 discounts of an item',
    'all of them in decimals',
    await compare(1, { call: async () => bestDiscount('12.35', 2.4, reductions) }, { call: inDecimals }),
    '>= 30',
  )
}

async function timeOf(script: string, env: Record<string, string>, args: string[] = []): Promise<number> {
  const started = performance.now()
  const program = run(script, env, { args })
  if ((await program.exited) !== 0) throw new Error(program.output())
  return performance.now() - started
}

async function loadBench(add: Add, folder: string, dataDir: string): Promise<void> {
  const rounds: Measured[] = []
  for (let round = 0; round < 3; round++) {
    const ours = await timeOf('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dataDir }, [folder])
    const bare = await timeOf('test/features/live-pricing/bench/load-by-hand.ts', {
      FOLDER: folder,
      FILE: join(dataDir, 'bare.sqlite'),
    })
    rounds.push({ subject: ours / 1000, yardstick: bare / 1000, ratio: ours / bare })
  }
  const measured = medianOf(rounds)
  add(
    '`npm run feature -- live-pricing load-prices`, 1,000,000 rows',
    'csv-parse and a bare prepared insert',
    measured,
    '<= 1.5x',
    's',
  )
}

const TOKEN_REQUEST = {
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'grant_type=client_credentials&client_id=bench&client_secret=bench-secret',
} as const

interface Supplier {
  url: string
  token: string
  program: Program
}

async function startSupplier(dataDir: string): Promise<Supplier> {
  const port = await freePort()
  const env = testEnv({
    PORT: String(port),
    DATA_DIR: dataDir,
    LIVE_PRICING_CLIENTS: 'bench:bench-secret',
    LIVE_PRICING_RATE_LIMIT: '0',
  })
  const program = run('src/features/live-pricing/cli-serve.ts', env, { stdout: '/dev/null' })
  await answering(`http://localhost:${port}/health/live`, program)
  const url = `http://localhost:${port}/live-pricing`
  const answer = await fetch(`${url}/connect/token`, TOKEN_REQUEST)
  const { access_token: token } = (await answer.json()) as { access_token: string }
  return { url, token, program }
}

const any = (below: number) => Math.floor(Math.random() * below)
const lineOf = (item: number) =>
  `{"itemId":"${itemCode(item)}","storeId":"${storeId(item % STORES)}","quantity":${((item % 1000) + 1) / 10}}`
const bodyOf = (nextItem: () => number, lines = 50) =>
  `{"memberNumber":"CUST1001","items":[${Array.from({ length: lines }, () => lineOf(nextItem())).join()}]}`

/** Returns the items of a price list in an order in which neighbours are far apart, each once in a round. */
function walk(items: number): () => number {
  const stride = 1_500_007
  let step = 0
  return () => (step++ * stride) % items
}

async function callsBench(add: Add, dataDir: string): Promise<void> {
  const folder = tempDir()
  await writePriceFolder(folder.dir, { items: WALK.items, stores: STORES })
  await timeOf('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dataDir }, [folder.dir])
  folder.remove()
  const supplier = await startSupplier(dataDir)
  const dispatcher = new Agent({ connections: CALLERS })
  const authorization = `Bearer ${supplier.token}`
  const places = Array.from({ length: 500 }, () => placeOf(any(STORES)))
  const pick = <T>(list: T[]): T => list[any(list.length)] as T
  const call = async (url: string, options: { method?: 'POST'; body?: string } = {}) => {
    const headers = { authorization, ...(options.body && { 'content-type': 'application/json' }) }
    const { statusCode, body } = await request(url, { dispatcher, headers, ...options })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${text}`)
    return text
  }
  const prices = (base: string, lines: number, nextItem: () => number) => () =>
    call(`${base}/request-prices`, { method: 'POST', body: bodyOf(nextItem, lines) })
  const nearest = (base: string) => () => {
    const { latitude, longitude } = pick(places)
    return call(`${base}/stores/nearest?latitude=${latitude}&longitude=${longitude}&radius=50`)
  }
  const token = (base: string) => async () => {
    const { statusCode, body } = await request(`${base}/connect/token`, { dispatcher, ...TOKEN_REQUEST })
    await body.text()
    if (statusCode !== 200) throw new Error(`token: ${statusCode}`)
  }
  const port = await freePort()
  const byHand = run('test/features/live-pricing/bench/by-hand.ts', {
    PORT: String(port),
    ITEMS: String(ITEMS),
    STORES: String(STORES),
  })
  const bare = `http://localhost:${port}`
  await answering(`${bare}/stores/nearest`, byHand)
  const against = async (
    measure: string,
    calls: readonly [ours: () => Promise<unknown>, bare: () => Promise<unknown>],
    reach: string,
  ) => {
    const [ours, theirs] = [
      { call: calls[0], pid: supplier.program.child.pid },
      { call: calls[1], pid: byHand.child.pid },
    ]
    add(measure, 'the same work by hand in node:http', await compare(CALLERS, ours, theirs), reach)
  }
  const [nextItem, anyItem] = [walk(WALK.items), () => any(ITEMS)]
  for (const lines of [50, 500])
    await against(
      `\`POST /request-prices\`, ${lines} items never asked for before`,
      [prices(supplier.url, lines, nextItem), prices(bare, lines, anyItem)],
      '>= 0.6',
    )
  await against('`GET /stores/nearest`, 50 km', [nearest(supplier.url), nearest(bare)], '>= 0.6')
  await against('`POST /connect/token`', [token(supplier.url), token(bare)], '>= 0.5')
  await Promise.all([supplier.program.kill(), byHand.kill(), dispatcher.destroy()])
}

/** Resident memory after 2,000 requests for prices, in MB. */
async function memoryOf(dataDir: string, items: number): Promise<number> {
  const { url, token, program } = await startSupplier(dataDir)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let round = 0; round < 4; round++)
    for (let call = 0; call < 500; call++) {
      const body = bodyOf(() => any(items))
      const answer = await request(`${url}/request-prices`, { method: 'POST', headers, body })
      await answer.body.text()
    }
  const memory = memoryKb(program.child.pid ?? 0) / 1024
  await program.kill()
  return memory
}

async function memoryBench(add: Add, large: string): Promise<void> {
  const [folder, small] = [tempDir(), tempDir()]
  await writePriceFolder(folder.dir, { items: 10_000, stores: STORES })
  await timeOf('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: small.dir }, [folder.dir])
  const rounds: Measured[] = []
  for (let round = 0; round < 3; round++) {
    const [subject, yardstick] = [await memoryOf(large, ITEMS), await memoryOf(small.dir, 10_000)]
    rounds.push({ subject, yardstick, ratio: subject / yardstick })
  }
  const measured = medianOf(rounds)
  add('memory of the server, 1,000,000 items', 'the same with 10,000 items', measured, '<= 1.2x', 'MB')
  for (const { remove } of [folder, small]) remove()
}
