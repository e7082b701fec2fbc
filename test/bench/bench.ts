/** `npm run bench`: a table of ratios, each against its yardstick in the same run. Needs redis-server. */
import { createClient } from 'redis'
import { Agent, request } from 'undici'
import { createApi } from '../../src/connect/platform/api.ts'
import { createHttp } from '../../src/connect/platform/http.ts'
import { openRedis } from '../../src/connect/store/redis.ts'
import { keyName } from '../../src/connect/store/store.ts'
import { connectionKey } from '../../src/connect/vault/records.ts'
import { createLeads } from '../../src/features/leads/leads.ts'
import { livePricingBench } from '../features/live-pricing/bench/live-pricing.ts'
import { writePriceFile } from '../features/price-files/support.ts'
import { tempDir, testEnv } from '../support/app.ts'
import { freePort } from '../support/ports.ts'
import { answering, type Program, run, runApp } from '../support/process.ts'
import { ready, startRedis } from '../support/redis.ts'
import { GRANTED, newKey, vaultSetup } from '../support/vault.ts'
import { createVisitor } from '../support/visitor.ts'
import { compare, type Measured, median } from './measure.ts'

const rows: string[][] = []
const add = (
  measure: string,
  yardstick: string,
  { subject, yardstick: bare, ratio }: Measured,
  reach: string,
  unit = '/s',
) =>
  rows.push([
    measure,
    yardstick,
    `${Math.round(subject)} ${unit}`,
    `${Math.round(bare)} ${unit}`,
    ratio.toFixed(2),
    reach,
  ])

const redis = await startRedis()
const platformPort = await freePort()
const apiUrl = `http://127.0.0.1:${platformPort}`
const platform = run('test/bench/platform-server.ts', { PORT: String(platformPort) })
await answering(apiUrl, platform)

await vaultBench()
await clientBench()
await appBench()
await startBench()
await importBench()
await budgetBench()
await livePricingBench(add)

const head = ['measure', 'yardstick', 'ours', 'bare', 'ratio', 'reach']
for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`)
await platform.kill()
await redis.close()
process.exit(0)

async function vaultBench(): Promise<void> {
  const store = await ready(openRedis({ urls: [redis.url] }))
  const bare = await createClient({ url: redis.url }).connect()
  const setup = await vaultSetup({ store, keys: [newKey()] })
  await setup.vault.connect('ann', 'ctx', GRANTED)
  const name = keyName(connectionKey('ann', 'ctx'))
  const measured = await compare(
    64,
    () => setup.vault.accessToken('ann', 'ctx'),
    () => bare.get(name),
  )
  add('`vault.accessToken`, warm, Redis, 64 callers', 'bare `GET` through node-redis', measured, '>= 0.8')
  bare.destroy()
  await setup.close()
}

async function clientBench(): Promise<void> {
  const http = createHttp()
  const leads = createLeads(createApi({ baseUrl: apiUrl, http }))
  const source = {
    accessToken: async () => 'token',
    refresh: async () => 'token',
    grantedScopes: async () => null,
    account: 'one',
    noteCall: async () => {},
  }
  const dispatcher = new Agent({ connections: 64 })
  const headers = { authorization: 'Bearer token', accept: 'application/json' }
  const measured = await compare(
    32,
    () => leads.list(source),
    async () => {
      const answer = await request(`${apiUrl}/leads?$top=25&$skip=0&$count=true`, { dispatcher, headers })
      return JSON.parse(await answer.body.text())
    },
  )
  add('`leads.list`, 32 callers', 'bare undici request and JSON.parse', measured, '>= 0.8')
  await Promise.all([http.close(), dispatcher.close()])
}

async function appBench(): Promise<void> {
  const { dir, remove } = tempDir()
  const addresses = { PLATFORM_APP_URL: apiUrl, PLATFORM_AUTH_URL: apiUrl, PLATFORM_API_URL: apiUrl }
  const env = testEnv({
    ...addresses,
    PORT: String(await freePort()),
    DATA_DIR: dir,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'info',
  })
  const ours = await runApp(env)
  const store = await ready(openRedis({ urls: [redis.url] }))
  const [id = '', secret = ''] = (env.TOKEN_KEYS ?? '').split(':')
  const setup = await vaultSetup({ store, keys: [{ id, secret: Buffer.from(secret, 'base64') }] })
  await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 3600 })
  const port = await freePort()
  const byHand = run('test/bench/hand-written.ts', {
    PORT: String(port),
    REDIS_URL: redis.url,
    PLATFORM_API_URL: apiUrl,
  })
  await answering(`http://localhost:${port}/health/live`, byHand)
  const dispatcher = new Agent({ connections: 64 })
  const getLeads = async (url: string) => {
    const visitor = createVisitor()
    await visitor.post(`${url}/sign-in`, { form: { name: 'ann' } })
    const cookie = [...(visitor.cookies.get(new URL(url).host) ?? [])]
      .map((pair) => pair.join('='))
      .join('; ')
    const headers = { cookie, accept: 'application/json' }
    return async () => {
      const { statusCode, body } = await request(`${url}/connections/ctx/leads`, { dispatcher, headers })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${text}`)
    }
  }
  const measured = await compare(32, await getLeads(ours.url), await getLeads(`http://localhost:${port}`))
  add(
    '`GET /connections/:context/leads`, whole app, Redis, 32 callers',
    'the same route by hand in Express',
    measured,
    '>= 1.0',
  )
  await Promise.all([ours.kill(), byHand.kill(), dispatcher.destroy(), setup.close()])
  remove()
}

async function startBench(): Promise<void> {
  const { dir, remove } = tempDir()
  const addresses = { PLATFORM_APP_URL: apiUrl, PLATFORM_AUTH_URL: apiUrl, PLATFORM_API_URL: apiUrl }
  const env = testEnv({ ...addresses, PORT: String(await freePort()), DATA_DIR: dir, LOG_LEVEL: 'info' })
  const timeOf = async (start: () => Program): Promise<number> => {
    const started = performance.now()
    const program = start()
    await answering(`http://localhost:${env.PORT}/health/live`, program)
    const took = performance.now() - started
    await program.kill()
    return took
  }
  const rounds: Measured[] = []
  for (let round = 0; round < 11; round++) {
    const subject = await timeOf(() => run('src/main.ts', env))
    const yardstick = await timeOf(() => run('test/bench/empty-app.ts', env))
    rounds.push({ subject, yardstick, ratio: subject / yardstick })
  }
  const middle = (name: keyof Measured) => median(rounds.map((round) => round[name]))
  const measured = { subject: middle('subject'), yardstick: middle('yardstick'), ratio: middle('ratio') }
  add('start of `main.ts` to first answer', "an empty Express app's", measured, '<= 3x', 'ms')
  remove()
}

/** Starts the server of imports; resolves to its address and its end. */
async function importServer(settings: Record<string, string> = {}) {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const server = run('test/bench/import-server.ts', { PORT: port, ...settings })
  await answering(`${url}/times`, server)
  return { url, stop: () => server.kill() }
}

async function importBench(): Promise<void> {
  const { dir, remove } = tempDir()
  const { url, stop } = await importServer()
  const timeOf = async (script: string, FILE: string): Promise<{ ms: number; peak: number }> => {
    const program = run(script, { FILE, PLATFORM_API_URL: url })
    await program.exited
    return JSON.parse(program.output())
  }
  const half = await writePriceFile(dir, 500_000)
  const rounds: Measured[] = []
  for (let round = 0; round < 5; round++) {
    const ours = await timeOf('test/bench/import-by-us.ts', half)
    const bare = await timeOf('test/bench/import-by-hand.ts', half)
    rounds.push({ subject: 5e8 / ours.ms, yardstick: 5e8 / bare.ms, ratio: bare.ms / ours.ms })
  }
  const middle = (name: keyof Measured) => median(rounds.map((round) => round[name]))
  add(
    'import of 500,000 rows, no limit',
    'csv-parse, map, JSON.stringify, undici POST in a bare loop',
    { subject: middle('subject'), yardstick: middle('yardstick'), ratio: middle('ratio') },
    '>= 0.85',
    'rows/s',
  )
  const whole = await writePriceFile(dir, 1_000_000)
  const ours = (await timeOf('test/bench/import-by-us.ts', whole)).peak / 1024
  const bare = (await timeOf('test/bench/import-by-hand.ts', whole)).peak / 1024
  const peak = { subject: ours, yardstick: bare, ratio: ours / bare }
  add('peak memory, 1,000,000 rows', "the bare loop's", peak, '<= 1.3x', 'MB')
  await stop()
  remove()
}

/** At the platform's real limit: how much of it is used, and whether it is ever hit. */
async function budgetBench(): Promise<void> {
  const { dir, remove } = tempDir()
  const limit = { LIMIT: '100', WINDOW_MS: '30000' }
  const { url, stop } = await importServer(limit)
  const FILE = await writePriceFile(dir, 260_000)
  const program = run('test/bench/import-by-us.ts', { FILE, PLATFORM_API_URL: url, DATA_DIR: dir, ...limit })
  await program.exited
  const answer = await fetch(`${url}/times`)
  const { times, refused } = (await answer.json()) as { times: number[]; refused: number }
  // In use to the full, each request comes one window after the one that had its permit before.
  const cycles = times.slice(100).map((time, at) => time - (times[at] ?? 0))
  const used = 30_000 / (cycles.reduce((sum, cycle) => sum + cycle) / cycles.length)
  rows.push([
    ...[
      'share of the rate limit that an import uses',
      '100 per 30 s',
      `${(100 * used).toFixed(1)} %`,
      '100 %',
    ],
    ...[`${refused} x 429`, '>= 97 %, 0 x 429'],
  ])
  await stop()
  remove()
}
