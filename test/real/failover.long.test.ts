import { describe, expect, test } from 'vitest'
import { REDIS } from '../support/programs.ts'
import { failover } from './failover.ts'
import { REDIS_SENTINEL, withSentinel } from './programs.ts'
import { type SentinelServers, until } from './redis-servers.ts'

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
