import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { serve } from '../support/ports.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'
import { consent, newKey, oauthFor } from '../support/vault.ts'

const [PROCESSES, CALLERS, CONNECTIONS] = [4, 100, 400]
/** A token is refreshed when a fifth of its life is left, here after 32 s. */
const TOKEN_SECONDS = 40
const SECONDS = 130
/** When the master is killed, in seconds after the start. */
const KILL_AT = 50

interface Report {
  ok: number
  failed: number
  failures?: [number, number]
  codes: Record<string, number>
}

/** Three masters with a replica each. */
async function startClusterWithReplicas() {
  const nodes: RedisServer[] = []
  for (let node = 0; node < 6; node++)
    nodes.push(
      await startRedis(
        '--cluster-enabled',
        'yes',
        '--cluster-node-timeout',
        '2000',
        '--appendfsync',
        'everysec',
      ),
    )
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
  execFileSync('redis-cli', create, { stdio: 'ignore' })
  return nodes
}

/** What a node says about the cluster. */
const ask = ({ port }: RedisServer, ...command: string[]) =>
  execFileSync('redis-cli', ['-p', String(port), ...command]).toString()

/** A token endpoint that notes when each connection was refreshed. */
async function startTokenEndpoint() {
  const refreshedAt = new Map<string, number[]>()
  let turn = 0
  const server = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const token = new URLSearchParams(body).get('refresh_token') ?? ''
    const times = refreshedAt.get(token) ?? []
    times.push(Date.now())
    refreshedAt.set(token, times)
    const tokens = { access_token: `access-${++turn}`, token_type: 'Bearer', expires_in: TOKEN_SECONDS }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
  })
  return { url: `http://127.0.0.1:${server.port}`, refreshedAt, close: server.close }
}

/** A Redis Cluster of three masters, one of which is killed under load. */
export async function cluster(): Promise<void> {
  const nodes = await startClusterWithReplicas()
  const urls = nodes.map(({ url }) => url)
  const endpoint = await startTokenEndpoint()
  const key = newKey()
  const store = await ready(await openRedis({ urls }))
  const vault = new Vault({
    platform,
    store,
    keys: [key],
    oauth: oauthFor(endpoint.url),
    log: pino({ level: 'silent' }),
  })
  const refs = Array.from({ length: CONNECTIONS }, (_, index) => ({
    userId: `user-${index}`,
    bxcontext: 'ctx',
  }))
  for (const [index, ref] of refs.entries())
    await consent(vault, { refreshToken: `refresh-${index}`, expiresIn: TOKEN_SECONDS }, ref)

  const env = {
    PATH: process.env.PATH ?? '',
    REDIS_URLS: urls.join(),
    KEY: key.secret.toString('base64'),
    AUTH_URL: endpoint.url,
    CALLERS: String(CALLERS),
    CONNECTIONS: String(CONNECTIONS),
  }
  const script = fileURLToPath(new URL('./cluster-worker.ts', import.meta.url))
  const workers = Array.from({ length: PROCESSES }, () => fork(script, { env }))
  await pause(KILL_AT * 1000)
  const [master, ...others] = nodes as [RedisServer, RedisServer, ...RedisServer[]]
  const killedAt = Date.now()
  await master.kill()
  const down = () => !ask(others[0] as RedisServer, 'cluster', 'info').includes('cluster_state:ok')
  const isPromoted = () =>
    ask(others[0] as RedisServer, 'cluster', 'nodes')
      .split('\n')
      .filter((line) => /\bmaster\b/.test(line) && !/fail/.test(line) && !line.includes(`:${master.port}@`))
      .length === 3
  while (down() || !isPromoted()) await pause(50)
  const failoverMs = Date.now() - killedAt
  await pause((SECONDS - KILL_AT) * 1000)

  const reports = await Promise.all(workers.map(stop))
  const lost = await Promise.all(
    refs.map((ref) =>
      vault.accessToken(ref).then(
        () => 0,
        () => 1,
      ),
    ),
  )
  const failures = reports.flatMap(({ failures }) => failures ?? [])
  const times = [...endpoint.refreshedAt.values()]
  const tooSoon = times.flatMap((each) => each.slice(1).filter((time, at) => time - (each[at] ?? 0) < 29_000))
  const sum = (figure: (report: Report) => number) =>
    reports.reduce((total, report) => total + figure(report), 0)
  console.log(`a Redis Cluster of 3 masters and 3 replicas; ${PROCESSES} processes, ${CALLERS} callers each, ${CONNECTIONS} connections; a master killed after ${KILL_AT} of ${SECONDS} s
calls: ${sum(({ ok }) => ok)} succeeded, ${sum(({ failed }) => failed)} failed (${JSON.stringify(reports.map(({ codes }) => codes))})
failover: ${failoverMs} ms; calls failed from ${failures.length ? Math.min(...failures) - killedAt : '–'} to ${failures.length ? Math.max(...failures) - killedAt : '–'} ms after the kill (target: failover + 2,000)
refreshes: ${times.flat().length} of ${CONNECTIONS} connections; a second one for the same expiry: ${tooSoon.length} (target: 0)
connections lost: ${lost.reduce((a: number, b) => a + b, 0)} (target: 0)
`)
  await vault.close(0)
  await store.close()
  await endpoint.close()
  for (const node of nodes) await node.close()
}

async function stop(worker: ChildProcess): Promise<Report> {
  const report = once(worker, 'message')
  worker.send('stop')
  const [value] = (await report) as [Report]
  worker.kill()
  return value
}
