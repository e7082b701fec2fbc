import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Vault } from '../../../src/connect/index.ts'
import { openRedis } from '../../../src/connect/stores.ts'
import { readRound } from '../../../src/features/connection-checks/round.ts'
import { createSweep, type Sweep } from '../../../src/features/connection-checks/sweep.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startRedis } from '../../support/redis.ts'
import { oauthError } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  eventsDuring,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
let testedAt = 0
beforeEach(() => {
  testedAt = performance.now()
})
let sweeps: Sweep[] = []
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(sweeps.map((sweep) => sweep.stop()))
  sweeps = []
  await setup.close()
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

function startSweep(everyMs: number, vault: Pick<Vault, 'list' | 'refresh'> = setup.vault): Sweep {
  const sweep = createSweep({
    store: setup.store,
    vault,
    log: pino({ level: 'silent' }),
    everyMs,
    // The vault's clock, which goes on.
    now: () => setup.now() + performance.now() - testedAt,
  })
  sweeps.push(sweep)
  sweep.start()
  return sweep
}
/** What the last complete round found. */
const lastCounts = async () => (await readRound(setup.store))?.last ?? null
const roundEnds = () => expect.poll(() => lastCounts()).not.toBeNull()
/** Many users with a connection each. */
async function connectMany(users: number): Promise<void> {
  for (let user = 0; user < users; user++) {
    const refreshToken = `refresh of ${user}`
    await consent(setup.vault, { refreshToken }, { userId: `user ${user}`, bxcontext: 'ctx' })
  }
}

describe('a round', () => {
  test('refreshes what was neither used nor refreshed, and nothing else', async () => {
    setup = await connectedSetup()
    const [fresh, used] = [
      { ...REF, bxcontext: 'fresh' },
      { ...REF, bxcontext: 'used' },
    ]
    await consent(setup.vault, { refreshToken: 'refresh-used', expiresIn: 7200 }, used)
    setup.later(3600)
    await consent(setup.vault, { refreshToken: 'refresh-fresh' }, fresh)
    const source = setup.vault.tokenSource(used)
    await source.accessToken()
    await source.noteCall({ result: 'ok', call: 'GET /leads', scope: 'leads' })
    // Half of it is longer than a minute, to which the last use is known.
    startSweep(1_000_000)
    await roundEnds()
    expect(setup.sent()).toEqual(['refresh-0'])
    expect(await lastCounts()).toMatchObject({
      active: 3,
      refreshed: 1,
      revoked: 0,
      failed: 0,
    })
  })

  test('notices a revocation, publishes it, and counts the connection as revoked', async () => {
    setup = await connectedSetup()
    setup.later(3600)
    const seen = await eventsDuring(setup.vault, async () => {
      setup.endpoint.answers(oauthError('invalid_grant'))
      startSweep(1_000)
      await roundEnds()
    })
    expect(seen).toContain('revoked')
    expect((await setup.vault.find(REF))?.view.state).toBe('revoked')
    expect(await lastCounts()).toMatchObject({
      active: 0,
      revoked: 1,
    })
  })

  test('notices that a connection without a refresh token has ended', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined })
    setup.later(301)
    startSweep(1_000)
    await roundEnds()
    expect(setup.sent()).toEqual([])
    expect((await setup.vault.find(REF))?.view.state).toBe('revoked')
  })

  test('starts if the next one is further ahead than the interval, which was longer or set by a wrong clock', async () => {
    setup = await connectedSetup()
    const longer = startSweep(100_000_000)
    await roundEnds()
    await longer.stop()
    setup.later(3600)
    startSweep(100_000)
    await expect.poll(() => setup.sent()).toEqual(['refresh-0'])
  })

  test('starts again after the interval, not before', async () => {
    setup = await connectedSetup()
    setup.later(3600)
    const checkedAt: number[] = []
    const list = async () => {
      checkedAt.push(performance.now())
      return []
    }
    startSweep(600, { list, refresh: async () => true })
    await expect.poll(() => checkedAt.length).toBeGreaterThan(3)
    const [first = 0, last = 0] = [checkedAt[0], checkedAt.at(-1)]
    // Rounds begin after 95 % of the interval; the first check may have come later in its round than the last one.
    expect((last - first) / (checkedAt.length - 1)).toBeGreaterThan(450)
  })
})

const stores = [
  { name: 'SQLite', open: async () => undefined, skip: false },
  {
    name: `Redis${withRedis}`,
    skip: !REDIS,
    open: async () => {
      const server = await startRedis()
      cleanups.push(server.close)
      const store = await openRedis({ urls: [server.url] })
      await ready(store)
      return store
    },
  },
]
describe.each(stores)('on $name', ({ open, skip }) => {
  test.skipIf(skip)(
    'one process at a time runs a round, and another one continues it: each connection is refreshed once',
    async () => {
      const store = await open()
      setup = await vaultSetup(store && { store })
      const users = 500
      await connectMany(users)
      setup.later(3600)
      const first = startSweep(2_000)
      startSweep(2_000, setup.anotherVault())
      await expect.poll(() => setup.sent().length).toBeGreaterThan(150)
      await first.stop()
      startSweep(2_000, setup.anotherVault())
      await roundEnds()
      expect(new Set(setup.sent()).size).toBe(users)
      expect(setup.sent()).toHaveLength(users)
    },
  )
})

test('an outage of the platform pauses the round, longer each time', async () => {
  setup = await vaultSetup()
  await connectMany(300)
  setup.later(3600)
  const sentAt: number[] = []
  setup.endpoint.answers((res) => {
    sentAt.push(performance.now())
    res.writeHead(503, { 'content-type': 'application/json' }).end('{}')
  })
  startSweep(2_000)
  // The first pause is 1 s, the second one 2 s.
  const longest = () => Math.max(0, ...sentAt.map((time, sent) => time - (sentAt[sent - 1] ?? time)))
  await expect.poll(longest).toBeGreaterThan(1_800)
  expect(sentAt.length).toBeLessThan(60)
})
