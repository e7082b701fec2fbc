/** The rows of the table that are about live pricing: 1,000,000 items, 2,000 stores, on disk. */
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { type Add, compare, type Measured, medianOf, memoryKb } from '../../../bench/measure.ts'
import { tempDir, testEnv } from '../../../support/env.ts'
import { freePort } from '../../../support/ports.ts'
import { answering, type Program, run } from '../../../support/process.ts'
import { itemCode, placeOf, storeId, writePriceFolder } from '../price-folder.ts'

const ITEMS = 1_000_000
const STORES = 2_000
const CALLERS = 16

export async function bench(add: Add): Promise<void> {
  const { dir, remove } = tempDir()
  const folder = tempDir()
  await writePriceFolder(folder.dir, { items: ITEMS, stores: STORES })
  await loadBench(add, folder.dir, dir)
  folder.remove()
  await memoryBench(add, dir)
  await callsBench(add, dir)
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
    const ours = await timeOf('src/features/live-pricing/cli-load-prices.ts', { DATA_DIR: dataDir }, [folder])
    const bare = await timeOf('test/features/live-pricing/bench/load-by-hand.ts', {
      FOLDER: folder,
      FILE: byHandFile(dataDir),
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

interface Api {
  url: string
  token: string
}

async function withToken(url: string): Promise<Api> {
  const answer = await fetch(`${url}/connect/token`, TOKEN_REQUEST)
  const { access_token: token } = (await answer.json()) as { access_token: string }
  return { url, token }
}

interface Supplier extends Api {
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
  return { ...(await withToken(`http://localhost:${port}/live-pricing`)), program }
}

const any = (below: number) => Math.floor(Math.random() * below)
const lineOf = (item: number) =>
  `{"itemId":"${itemCode(item)}","storeId":"${storeId(item % STORES)}","quantity":${((item % 1000) + 1) / 10}}`
const bodyOf = (nextItem: () => number, lines = 50) =>
  `{"memberNumber":"CUST1001","items":[${Array.from({ length: lines }, () => lineOf(nextItem())).join()}]}`

async function callsBench(add: Add, dataDir: string): Promise<void> {
  const supplier = await startSupplier(dataDir)
  const dispatcher = new Agent({ connections: CALLERS })
  const places = Array.from({ length: 500 }, () => placeOf(any(STORES)))
  const pick = <T>(list: T[]): T => list[any(list.length)] as T
  const call = async (
    { url: base, token }: Api,
    path: string,
    options: { method?: 'POST'; body?: string } = {},
  ) => {
    const url = base + path
    const headers = {
      authorization: `Bearer ${token}`,
      ...(options.body && { 'content-type': 'application/json' }),
    }
    const { statusCode, body } = await request(url, { dispatcher, headers, ...options })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${text}`)
    return text
  }
  const prices = (api: Api, lines: number) => () =>
    call(api, '/request-prices', { method: 'POST', body: bodyOf(() => any(ITEMS), lines) })
  const nearest = (api: Api) => () => {
    const { latitude, longitude } = pick(places)
    return call(api, `/stores/nearest?latitude=${latitude}&longitude=${longitude}&radius=50`)
  }
  const token =
    ({ url }: Api) =>
    async () => {
      const { statusCode, body } = await request(`${url}/connect/token`, { dispatcher, ...TOKEN_REQUEST })
      await body.text()
      if (statusCode !== 200) throw new Error(`token: ${statusCode}`)
    }
  const port = await freePort()
  const byHand = run('test/features/live-pricing/bench/by-hand.ts', {
    PORT: String(port),
    FILE: byHandFile(dataDir),
  })
  await answering(`http://localhost:${port}/health/live`, byHand)
  const bare = await withToken(`http://localhost:${port}`)
  const against = async (
    measure: string,
    calls: readonly [ours: () => Promise<unknown>, bare: () => Promise<unknown>],
    reach: string,
  ) => {
    const [ours, theirs] = [
      { call: calls[0], pid: supplier.program.child.pid },
      { call: calls[1], pid: byHand.child.pid },
    ]
    add(measure, 'the same work by hand with SQLite', await compare(CALLERS, ours, theirs), reach)
  }
  for (const lines of [50, 500])
    await against(
      `\`POST /request-prices\`, ${lines} items`,
      [prices(supplier, lines), prices(bare, lines)],
      '>= 0.4',
    )
  await against('`GET /stores/nearest`, 50 km', [nearest(supplier), nearest(bare)], '>= 0.4')
  await against('`POST /connect/token`', [token(supplier), token(bare)], '>= 0.4')
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
