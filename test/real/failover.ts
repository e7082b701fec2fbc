/** Two processes of the app on Redis Sentinel. The master fails, and the result lists lost acknowledged operations. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { forkWorker } from '../support/process.ts'
import { ready } from '../support/redis.ts'
import { newKey, oauthFor } from '../support/vault.ts'
import type { Acknowledged } from './failover-worker.ts'
import { isMaster, type SentinelServers, startSentinel } from './redis-servers.ts'

/**
 * The number of acknowledgements to wait for before and after a failure, and the minimum time for which the processes work after
 * it, in ms.
 */
const [MORE, AFTER_MS] = [60, 4_000]

export interface Report {
  acknowledged: Acknowledged[]
  /** Acknowledged operations that are lost or undone. */
  lost: Acknowledged[]
  /** When a replica became a master, in ms since 1970. */
  promotions: number[]
  /** The time without acknowledgements after most sentinels named another master, in ms. */
  unservedMs: number
}

/**
 * Lets a master fail while both processes work. `fail` resolves when there is another master, or the same one again.
 * `settings`: the settings of each Redis.
 */
export async function failover(
  fail: (servers: SentinelServers) => Promise<void>,
  settings: string[] = [],
): Promise<Report> {
  const servers = await startSentinel({ settings, replicas: 2 })
  const key = newKey()
  const acknowledged: Acknowledged[] = []
  const start = async (name: string) => {
    const env = { STORE: servers.urls.join(), KEY: key.secret.toString('base64'), NAME: name }
    const worker = forkWorker('../real/failover-worker.ts', env)
    const ended = once(worker, 'exit').then(() => {
      throw new Error('a process has ended before it began')
    })
    await Promise.race([once(worker, 'message'), ended])
    ended.catch(() => {})
    return worker.on('message', (each: Acknowledged) => void acknowledged.push(each))
  }
  const workers = await Promise.all(['one', 'two'].map(start))
  const more = async (ms: number) => {
    const [wanted, until] = [acknowledged.length + MORE, Date.now() + ms]
    while (acknowledged.length < wanted || Date.now() < until) {
      if (workers.some(({ exitCode }) => exitCode !== null)) throw new Error('a process has ended')
      await pause(20)
    }
  }
  const endWatch = watchPromotions(servers)
  for (const worker of workers) worker.send('begin')
  await more(0)
  await fail(servers)
  const failedAt = Date.now()
  await more(AFTER_MS)
  for (const worker of workers) worker.kill('SIGKILL')
  const promotions = endWatch()
  const store = await ready(await openRedis({ urls: servers.urls }))
  const vault = new Vault({ platform, store, oauth: oauthFor('http://127.0.0.1:9'), keys: [key] })
  const isThere = async ({ what, id, user }: Acknowledged) =>
    what === 'sign-out'
      ? (await store.get({ kind: 'session', owner: id, id: '' })) !== null
      : (await vault.find({ userId: user, bxcontext: id })) !== null
  const lost: Acknowledged[] = []
  for (const each of acknowledged) if ((await isThere(each)) !== (each.what === 'consent')) lost.push(each)
  await store.close()
  await servers.close()
  const later = acknowledged.map(({ at }) => at).filter((at) => at > failedAt)
  return { acknowledged, lost, promotions, unservedMs: Math.min(...later) - failedAt }
}

/** Records when a replica becomes a master. Returns a function that stops the recording. */
function watchPromotions({ nodes }: SentinelServers): () => number[] {
  const promotions: number[] = []
  const masters = new Set(nodes.slice(0, 1))
  let isOver = false
  const watch = async () => {
    for (; !isOver; await pause(100))
      for (const node of nodes) {
        const at = Date.now()
        const is = await isMaster(node)
        if (is === true && !masters.has(node)) promotions.push(at)
        if (is === true) masters.add(node)
        if (is === false) masters.delete(node)
      }
  }
  void watch()
  return () => {
    isOver = true
    return promotions
  }
}
