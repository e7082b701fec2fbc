/**
 * `npm run chaos [-- MINUTES]`: four processes of the app on one Redis, a platform with constant and with rotating refresh tokens,
 * and faults of the platform, the processes and Redis, one after the other and mixed. At the end, it counts lost connections, and
 * secrets in logs and answers. Both counts must be 0.
 *
 * With rotation two faults are left out, because no client survives them: an answer that is lost after the platform has rotated,
 * and a process that is killed between the answer and the write. So before a kill, it holds token requests and waits for pending
 * writes.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { type Faults, MARK, startPlatform } from './platform.ts'

const MINUTES = Number(process.argv[2] ?? '10')
const PROCESSES = 4
const CONNECTIONS = 40
const CALLERS_PER_PROCESS = 25
/** Longer than the longest pause between two writes of tokens that could not be stored, in ms. */
const WRITTEN_MS = 7_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const between = (min: number, max: number) => min + Math.random() * (max - min)
const timeOf = (at: number) => new Date(at).toISOString().slice(11, 19)
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T

const dir = mkdtempSync(join(tmpdir(), 'connect-chaos-'))
const clientSecret = MARK + randomBytes(16).toString('hex')
const platform = await startPlatform(clientSecret)
const redis = await startRedis()
const env = testEnv({
  REDIS_URL: redis.url,
  DATA_DIR: dir,
  PLATFORM_APP_URL: platform.url,
  PLATFORM_AUTH_URL: platform.url,
  PLATFORM_API_URL: platform.url,
  PLATFORM_CLIENT_SECRET: clientSecret,
  NODE_ENV: 'test',
})

const ports = await Promise.all(Array.from({ length: PROCESSES }, freePort))
const startApp = (port: number) =>
  runApp({ ...env, PORT: String(port), BASE_URL: `http://localhost:${ports[0]}` }, 'test/chaos/app.ts')
const apps = await Promise.all(ports.map(startApp))
const logs: string[] = []
const leaks = new Set<string>()

interface Connected {
  visitor: Visitor
  bxcontext: string
  rotating: boolean
}

/** Searches for secrets of the platform and of the app. */
function search(where: string, text: string): void {
  if (text.includes(MARK)) leaks.add(where)
}

/** The flow as a browser goes through it; the platform's pages are skipped. */
async function connect(index: number): Promise<Connected> {
  const url = `http://localhost:${ports[index % PROCESSES]}`
  const visitor = createVisitor()
  const bxcontext = `business-${index}`
  const rotating = index % 2 === 0
  await visitor.post(`${url}/sign-in`, { form: { name: `user-${index}` } })
  await visitor.post(`${url}/connect`)
  const consent = await visitor.get(`${url}/connect/context?bxcontext=${bxcontext}`)
  const state = new URL(consent.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const code = platform.consent(rotating)
  await visitor.get(`${url}/connect/callback?${new URLSearchParams({ code, state })}`)
  return { visitor, bxcontext, rotating }
}

const connections = await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connect(index)))
const answers = new Map<number | string, number>()
/**
 * Connections that the app temporarily reported as revoked, although access never ended. That happens when a process is stopped
 * between the answer of a rotating platform and the write: no other process can know that until it continues.
 */
const doubted = new Set<string>()
/** Connections that do not work after all faults have ended. */
const lost = new Map<string, string>()
let running = true

async function call({ visitor, bxcontext }: Connected, port: number): Promise<number | string> {
  const cookie = [...(visitor.cookies.values().next().value ?? [])].map((pair) => pair.join('=')).join('; ')
  try {
    const answer = await fetch(`http://localhost:${port}/connections/${bxcontext}/probe`, {
      headers: { accept: 'application/json', cookie },
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answer.text()
    search(`an answer ${answer.status}`, text)
    if ([401, 404, 409].includes(answer.status)) doubted.add(bxcontext)
    return answer.status
  } catch {
    return 'no answer'
  }
}

async function caller(port: number): Promise<void> {
  while (running) {
    const result = await call(pick(connections), port)
    answers.set(result, (answers.get(result) ?? 0) + 1)
    await sleep(result === 200 ? 50 : 200)
  }
}

const at = (index: number) => apps[index] as Program & { url: string }

async function restart(index: number, signal: NodeJS.Signals): Promise<void> {
  platform.faults.holdTokens = true
  await sleep(WRITTEN_MS)
  await at(index).kill(signal)
  logs.push(at(index).output())
  platform.faults.holdTokens = false
  apps[index] = await startApp(ports[index] as number)
}

async function withPlatform(fault: Partial<Faults>, ms = between(2_000, 8_000)): Promise<void> {
  Object.assign(platform.faults, fault)
  await sleep(ms)
  Object.assign(platform.faults, { token: 'none', drop: false, api: 'none' } satisfies Partial<Faults>)
}

async function pauseProcess(index: number): Promise<void> {
  at(index).child.kill('SIGSTOP')
  await sleep(between(6_000, 15_000))
  at(index).child.kill('SIGCONT')
}

async function fullRedis(): Promise<void> {
  const admin = await createClient({ url: redis.url }).connect()
  await admin.configSet('maxmemory', '1')
  await sleep(between(2_000, 10_000))
  await admin.configSet('maxmemory', '0')
  admin.destroy()
}

async function restartRedis(): Promise<void> {
  await redis.kill()
  await sleep(between(500, 4_000))
  await redis.start()
}

const FAULTS: Record<string, () => Promise<unknown>> = {
  'token endpoint 500': () => withPlatform({ token: '500' }),
  'token endpoint 429': () => withPlatform({ token: '429' }),
  'token endpoint garbage': () => withPlatform({ token: 'garbage' }),
  'token endpoint slow': () => withPlatform({ token: 'slow' }, between(10_000, 20_000)),
  'answers lost (constant refresh tokens)': () => withPlatform({ drop: true }),
  'API 500': () => withPlatform({ api: '500' }),
  'API 401, a third of the calls': () => withPlatform({ api: '401' }),
  'API hangs': () => withPlatform({ api: 'hang' }),
  'process stopped and continued': () => pauseProcess(Math.floor(between(0, PROCESSES))),
  'process killed': () => restart(Math.floor(between(0, PROCESSES)), 'SIGKILL'),
  'process restarted': () => restart(Math.floor(between(0, PROCESSES)), 'SIGTERM'),
  'Redis out of memory': fullRedis,
  'Redis frozen': async () => {
    redis.signal('SIGSTOP')
    await sleep(between(1_000, 6_000))
    redis.signal('SIGCONT')
  },
  'Redis killed and restarted': restartRedis,
  'slow tokens while Redis is out of memory': () =>
    Promise.all([withPlatform({ token: 'slow' }, 12_000), fullRedis()]),
  'slow tokens while a process is stopped': () =>
    Promise.all([withPlatform({ token: 'slow' }, 12_000), pauseProcess(1)]),
  'API 401 while Redis restarts': () => Promise.all([withPlatform({ api: '401' }), restartRedis()]),
}

const callers = ports.flatMap((port) => Array.from({ length: CALLERS_PER_PROCESS }, () => caller(port)))
const happened = new Map<string, number>()
const ends = Date.now() + MINUTES * 60_000
let queue: string[] = []
while (Date.now() < ends) {
  if (queue.length === 0) queue = Object.keys(FAULTS).toSorted(() => Math.random() - 0.5)
  const name = queue.pop() as string
  console.log(`${timeOf(Date.now())}  ${name}`)
  await FAULTS[name]?.()
  happened.set(name, (happened.get(name) ?? 0) + 1)
  await sleep(between(500, 3_000))
}

// All faults have ended. Every connection must work once the leases of killed processes have expired.
await sleep(50_000)
running = false
await Promise.all(callers)
for (const connection of connections) {
  const results = await Promise.all(ports.map((port) => call(connection, port)))
  if (results.some((status) => status !== 200))
    lost.set(connection.bxcontext, `at the end: ${results.join(', ')}`)
}
for (const app of apps) {
  await app.kill('SIGTERM')
  logs.push(app.output())
}
for (const log of logs) search('a log', log)

const refreshes = platform.grants.reduce((sum, { refreshedAt }) => sum + refreshedAt.length, 0)
/** The times of refreshes that came less than 5 s after the previous refresh. */
const tooSoon = platform.grants.flatMap(({ refreshedAt }) =>
  refreshedAt.filter((time, index) => index > 0 && time - (refreshedAt[index - 1] ?? 0) < 4_900),
)
console.log(`
${MINUTES} minutes, ${PROCESSES} processes, ${CONNECTIONS} connections (half with rotating refresh tokens)
faults:   ${[...happened].map(([name, times]) => `${name} ×${times}`).join('; ')}
answers:  ${[...answers].map(([status, times]) => `${status}: ${times}`).join(', ')}
refreshes: ${refreshes}, of ${platform.tokenRequests()} token requests; sooner than 5 s after the one before: ${tooSoon.length} ${tooSoon.map(timeOf).join(' ')}
connections that were shown as revoked for a while: ${doubted.size}
lost connections: ${lost.size}${[...lost].map(([bxcontext, why]) => `\n  ${bxcontext}: ${why}`).join('')}
secrets found in logs and answers: ${leaks.size}${[...leaks].map((where) => `\n  ${where}`).join('')}`)
await platform.close()
await redis.close()
rmSync(dir, { recursive: true, force: true })
process.exit(lost.size + leaks.size > 0 ? 1 : 0)
