/** `npm run bench`: a table of ratios, each against its yardstick in the same run. Needs redis-server. */
import { createClient } from 'redis'
import { Agent, request } from 'undici'
import { createApi } from '../../src/platform/api.ts'
import { createHttp } from '../../src/platform/http.ts'
import { createLeads } from '../../src/platform/leads.ts'
import { openRedis } from '../../src/store/redis.ts'
import { keyName } from '../../src/store/store.ts'
import { connectionKey } from '../../src/vault/records.ts'
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
    renew: async () => 'token',
    grantedScopes: async () => null,
    unavailable: async () => {},
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
