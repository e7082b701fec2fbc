/**
 * `npm run bench`: a table of ratios, each against its yardstick in the same run. Needs redis-server. With arguments only
 * the named ones run: `npm run bench -- start leads`.
 */
import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from 'redis'
import * as z from 'zod'
import { createApi, createHttp, platform } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { answering, type Program, run, runProgram } from '../support/process.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'
import { consent, newKey, REF, vaultSetup } from '../support/vault.ts'
import { startBenchApp } from './app.ts'
import { benchManyConnections } from './many-connections.ts'
import { type Add, compare, type Measured, medianOf, memoryKb } from './measure.ts'
import { BARE_SOURCE, bareList, startServer } from './platform.ts'

const HEAD = ['measure', 'yardstick', 'ours', 'bare', 'ratio', 'target']
const FEATURES = new URL('../features/', import.meta.url)

const rows: string[][] = []
const add: Add = (measure, yardstick, { subject, yardstick: bare, ratio, rates }, reach, unit = '') => {
  const shown = (value: number, rate: number | undefined) =>
    rate === undefined
      ? `${Math.round(value)} ${unit}`
      : `${value.toPrecision(3)} µs CPU (${Math.round(rate)}/s)`
  rows.push([
    measure,
    yardstick,
    shown(subject, rates?.subject),
    shown(bare, rates?.yardstick),
    ratio.toFixed(2),
    reach,
  ])
}

const benches = new Map<string, () => Promise<void>>([
  ['vault', () => withRedis(vaultBench)],
  ['api', apiBench],
  ['connections', connectionsBench],
  ['start', startBench],
  ['memory', () => withRedis(memoryBench)],
])
for (const file of globSync('{*,*/*}/bench/index.ts', { cwd: fileURLToPath(FEATURES) })) {
  const script = new URL(file.replaceAll('\\', '/'), FEATURES)
  const name = basename(dirname(dirname(file)))
  benches.set(name, async () => {
    const { bench }: { bench(add: Add): Promise<void> } = await import(script.href)
    await bench(add)
  })
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !benches.has(name))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${[...benches.keys()].join(', ')}.`)
  process.exit(1)
}
/** The benchmarks that failed. The rows of the others are still shown. */
const failed: string[] = []
for (const [name, bench] of benches) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  await bench().catch((error: unknown) => {
    console.error(`${name}:`, error)
    failed.push(name)
  })
}
for (const row of [HEAD, HEAD.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`)
process.exit(failed.length > 0 ? 1 : 0)

async function withRedis(bench: (redis: RedisServer) => Promise<void>): Promise<void> {
  const redis = await startRedis()
  await bench(redis)
  await redis.close()
}

async function vaultBench(redis: RedisServer): Promise<void> {
  const store = await ready(await openRedis({ urls: [redis.url] }))
  const bare = await createClient({ url: redis.url }).connect()
  const setup = await vaultSetup({ store, keys: [newKey()] })
  await consent(setup.vault)
  // The record of the only connection.
  const [name = ''] = (await bare.scan('0', { TYPE: 'string', COUNT: 1_000 })).keys
  const measured = await compare(
    64,
    { call: () => setup.vault.accessToken(REF) },
    { call: () => bare.get(name) },
  )
  add('`vault.accessToken`, warm, Redis, 64 callers', 'bare `GET` through node-redis', measured, '>= 1')
  bare.destroy()
  await setup.close()
}

async function apiBench(): Promise<void> {
  const server = await startServer('test/bench/platform-server.ts')
  const http = createHttp()
  const api = createApi({ platform, baseUrl: server.url, http })
  const call = { path: '/probe', scope: '', schema: z.array(z.object({ id: z.string() })) }
  const bare = bareList(`${server.url}/probe`)
  const measured = await compare(32, { call: () => api.list(BARE_SOURCE, call, {}) }, { call: bare.list })
  add('`api.list`, 32 callers', 'bare undici request and JSON.parse', measured, '>= 0.85')
  await Promise.all([http.close(), bare.close(), server.stop()])
}

async function connectionsBench(): Promise<void> {
  await benchManyConnections(add, null)
  await withRedis(({ url }) => benchManyConnections(add, url))
}

async function startBench(): Promise<void> {
  const { dir, remove } = tempDir()
  const nowhere = 'http://127.0.0.1:1'
  const addresses = { PLATFORM_APP_URL: nowhere, PLATFORM_AUTH_URL: nowhere, PLATFORM_API_URL: nowhere }
  // As in production.
  const env = testEnv({
    ...addresses,
    FLOW_INSPECTOR: 'false',
    PORT: String(await freePort()),
    DATA_DIR: dir,
  })
  const timeOf = async (start: () => Program): Promise<number> => {
    const started = performance.now()
    const program = start()
    await answering(`http://localhost:${env.PORT}/health/live`, program)
    const took = performance.now() - started
    await program.kill('SIGTERM')
    return took
  }
  const rounds: Measured[] = []
  for (let round = 0; round < 11; round++) {
    const subject = await timeOf(() => runProgram('src/main.ts', env))
    const yardstick = await timeOf(() => run('test/bench/empty-app.ts', env))
    rounds.push({ subject, yardstick, ratio: subject / yardstick })
  }
  add('start of the app to first answer', "an empty Express app's", medianOf(rounds), '<= 1.7x', 'ms')
  remove()
}

/** The memory of a process a few seconds after its start, before it has users. */
async function memoryBench(redis: RedisServer): Promise<void> {
  const start = () => startBenchApp('src/main.ts', redis.url, { apiUrl: 'http://127.0.0.1:1' })
  // The first start after an install compiles the modules, and has Node's compiler of TypeScript in memory.
  await (await start()).close()
  const ours = await start()
  const empty = await startServer('test/bench/empty-app.ts')
  await setTimeout(5000)
  const [subject = 0, yardstick = 0] = [ours, empty].map(({ pid = 0 }) => memoryKb(pid) / 1024)
  const measured = { subject, yardstick, ratio: subject / yardstick }
  add('memory at rest, with Redis', "an empty Express app's", measured, '<= 95 MB', 'MB')
  await Promise.all([ours.close(), empty.stop()])
}
