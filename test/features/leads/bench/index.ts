/** The rows about leads in the table of `npm run bench`. */
import { join } from 'node:path'
import { createApi, createHttp, platform } from '../../../../src/connect/index.ts'
import { CALLS } from '../../../../src/features/leads/contract.ts'
import { loadFeatures } from '../../../../src/features/load.ts'
import { signedInCaller, startBenchApp } from '../../../bench/app.ts'
import { type Add, compare, type Work } from '../../../bench/measure.ts'
import { BARE_SOURCE, bareList, startServer } from '../../../bench/platform.ts'
import { openClone } from '../../../starter/clones.ts'
import { startRedis } from '../../../support/redis.ts'
import { REF } from '../../../support/vault.ts'

const features = await loadFeatures()

const ROUTE = `/connections/${REF.bxcontext}/leads`
const CALLERS = 100

export async function bench(add: Add): Promise<void> {
  await listBench(add)
  await routeBench(add)
  await featuresBench(add)
  await refreshBench(add)
}

async function listBench(add: Add): Promise<void> {
  const { url, stop } = await startServer('test/bench/platform-server.ts')
  const http = createHttp()
  const api = createApi({ platform, baseUrl: url, http })
  const bare = bareList(`${url}/leads`)
  const measured = await compare(
    32,
    { call: () => api.list(BARE_SOURCE, CALLS.list, {}) },
    { call: bare.list },
  )
  add('a list of leads, 32 callers', 'bare undici request and JSON.parse', measured, '>= 0.8')
  await Promise.all([http.close(), bare.close(), stop()])
}

/** The whole JSON route, in processes of their own. */
async function routeBench(add: Add): Promise<void> {
  const redis = await startRedis()
  const platform = await startServer('test/bench/platform-server.ts')
  const ours = await startBenchApp('src/main.ts', redis.url, { apiUrl: platform.url })
  const settings = { REDIS_URL: redis.url, PLATFORM_API_URL: platform.url, PLATFORM_AUTH_URL: platform.url }
  const start = (script: string, extra = {}) =>
    startServer(`test/features/leads/bench/${script}`, { ...settings, ...extra })
  const byHand = await start('simple-oauth2.ts')
  const deployed = await start('simple-oauth2.ts', { DEPLOYED: 'true' })
  const inFastify = await start('fastify.ts')
  const fastest = await start('fastify.ts', { TOKENS_IN_SESSION: 'true' })
  const bare = await start('bare-server.ts')
  const workOf = async ({ url, pid }: typeof bare): Promise<Work> => ({
    call: await signedInCaller(url, ROUTE),
    pid,
  })
  const subject: Work = { call: await signedInCaller(ours.url, ROUTE), pid: ours.pid }
  const [byHandWork, deployedWork, fastifyWork, fastestWork, bareWork] = [
    await workOf(byHand),
    await workOf(deployed),
    await workOf(inFastify),
    await workOf(fastest),
    await workOf(bare),
  ]
  const name = '`GET /connections/:bxcontext/leads`, whole app, Redis, 32 callers'
  const least = 'bare `node:http`, two reads and a call'
  add(
    name,
    'by hand with `simple-oauth2`, helmet and pino-http',
    await compare(32, subject, deployedWork),
    '>= 1.4',
  )
  add(name, 'the same by hand in Fastify 5', await compare(32, subject, fastifyWork), '>= 1.0')
  add(
    name,
    'by hand in Fastify 5, tokens unencrypted in the session, calls without limits',
    await compare(32, subject, fastestWork),
    '>= 0.95',
  )
  add(name, 'by hand with `simple-oauth2`', await compare(32, subject, byHandWork), '>= 1.15')
  add(name, least, await compare(32, subject, bareWork), '>= 0.6')
  add(
    'the same route by hand with `simple-oauth2`',
    least,
    await compare(32, byHandWork, bareWork),
    '(for information)',
  )
  await Promise.all([
    ours.close(),
    ...[byHand, deployed, inFastify, fastest, bare].map((yardstick) => yardstick.stop()),
    platform.stop(),
  ])
  await redis.close()
}

/** The cost of the other features for a route that doesn't use them. */
async function featuresBench(add: Add): Promise<void> {
  const copy = openClone()
  const others = features.map(({ name }) => name).filter((name) => name !== 'leads')
  await copy.command('remove-feature', ...others)
  const platform = await startServer('test/bench/platform-server.ts')
  const apps = []
  for (const script of ['src/main.ts', join(copy.dir, 'src/main.ts')]) {
    const redis = await startRedis()
    const { url, pid, close } = await startBenchApp(script, redis.url, { apiUrl: platform.url })
    const call = await signedInCaller(url, ROUTE)
    apps.push({ call, pid, close: () => close().then(redis.close) })
  }
  const [all, alone] = apps
  if (!all || !alone) throw new Error('no app was started')
  const { subject, yardstick, ratio, ...rates } = await compare(32, all, alone)
  add(
    '`GET /connections/:bxcontext/leads`, all features',
    'without the other features',
    { subject, yardstick, ratio: 1 / ratio, ...rates },
    '<= 1.05x',
  )
  await Promise.all([all.close(), alone.close(), platform.stop()])
  copy.remove()
}

/** The number of token requests if all callers find an expired token. */
async function refreshBench(add: Add): Promise<void> {
  const redis = await startRedis()
  const platform = await startServer('test/bench/platform-server.ts')
  const tokens = await startServer('test/features/leads/bench/token-server.ts')
  const ours = await startBenchApp('src/main.ts', redis.url, { apiUrl: platform.url, authUrl: tokens.url }, 0)
  const settings = { REDIS_URL: redis.url, PLATFORM_API_URL: platform.url, PLATFORM_AUTH_URL: tokens.url }
  const theirs = await startServer('test/features/leads/bench/simple-oauth2.ts', settings)
  const refreshesOf = async (call: () => Promise<void>) => {
    await fetch(`${tokens.url}/count`)
    await Promise.all(Array.from({ length: CALLERS }, call))
    return Number(await (await fetch(`${tokens.url}/count`)).text())
  }
  const subject = await refreshesOf(await signedInCaller(ours.url, ROUTE))
  const yardstick = await refreshesOf(await signedInCaller(theirs.url, ROUTE, '/sign-in?expires_in=0'))
  const measured = { subject, yardstick, ratio: subject / yardstick }
  add(
    `refreshes when ${CALLERS} callers find an expired token`,
    'by hand with `simple-oauth2`',
    measured,
    '1 of ours',
    '',
  )
  await Promise.all([ours.close(), theirs.stop(), platform.stop(), tokens.stop()])
  await redis.close()
}
