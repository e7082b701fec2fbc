/** Two processes of the app on Redis Sentinel. The master fails, and what they acknowledged is looked for. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { forkWorker } from '../support/process.ts'
import { REDIS } from '../support/programs.ts'
import { ready } from '../support/redis.ts'
import { newKey, oauthFor } from '../support/vault.ts'
import type { Acknowledged } from './failover-worker.ts'
import { REDIS_SENTINEL, withSentinel } from './programs.ts'
import { isMaster, type SentinelServers, startSentinel, until } from './redis-servers.ts'

/**
 * The number of acknowledgements to wait for before and after a failure, and the minimum time for which the processes work after
 * it, in ms.
 */
const [MORE, AFTER_MS] = [60, 4_000]

interface Report {
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
async function failover(
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

/** How much longer a busy machine may take, in ms. */
const BUSY_MS = 1_000
/** How long after a promotion the app may still write to the former master, or serve no user, in ms. */
const [SWITCH_MS, SERVED_MS] = [1_300, 2_000]

/** Resolves when most of the sentinels name another master. */
const another = (fail: (servers: SentinelServers) => void) => async (servers: SentinelServers) => {
  const before = await servers.masterOf()
  fail(servers)
  await until('a failover', async () => (await servers.masterOf().catch(() => before)) !== before)
}
const onFirst =
  (work: (node: SentinelServers['nodes'][number]) => unknown) => async (servers: SentinelServers) => {
    for (const node of servers.nodes.slice(0, 1)) await work(node)
  }

// The tests run at the same time, because they mostly wait for the sentinels.
describe
  .skipIf(!REDIS || !REDIS_SENTINEL)
  .concurrent(`with Redis Sentinel and two processes${withSentinel}`, () => {
    test.for([
      {
        what: 'a planned failover, in which the former master goes on',
        fail: (servers: SentinelServers) => servers.failOver(),
      },
      {
        what: 'a restart of the master',
        fail: onFirst(async (master) => {
          await master.kill()
          await master.start()
        }),
      },
      { what: 'a frozen master', fail: another(onFirst((master) => master.signal('SIGSTOP'))) },
      {
        what: 'a master that only clients reach',
        fail: another((servers) => servers.cutOff()),
        // Writes that it accepts until then have no replica: Redis itself loses them.
        isAlone: true,
      },
    ])(
      'no consent, disconnect or sign-out that was acknowledged is lost or undone by $what, but those of the moment of the promotion, and users are served within two seconds after it',
      async ({ fail, isAlone = false }) => {
        const { acknowledged, lost, promotions, unservedMs } = await failover(fail)
        expect(acknowledged.length).toBeGreaterThan(100)
        expect(unservedMs).toBeLessThan(SERVED_MS + BUSY_MS)
        const isExcused = (at: number) =>
          promotions.some(
            (promotedAt) => at < promotedAt + SWITCH_MS + BUSY_MS && (isAlone || at > promotedAt - BUSY_MS),
          )
        expect(lost.filter(({ at }) => !isExcused(at))).toEqual([])
      },
    )
  })
