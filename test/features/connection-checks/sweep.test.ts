import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readRound } from '../../../src/features/connection-checks/round.ts'
import { createSweep, type Sweep, type SweepOptions } from '../../../src/features/connection-checks/sweep.ts'
import { connectedSetup, consent, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
let sweeps: Sweep[] = []
afterEach(async () => {
  await Promise.all(sweeps.map((sweep) => sweep.stop()))
  sweeps = []
  await setup.close()
})

/** A process that checks all connections. It uses the vault's clock, and its waits end at once. */
function startSweep(everyMs: number, options: Partial<SweepOptions> = {}): Sweep {
  const { store, vault, now } = setup
  const sleep = async (_ms: number, signal: AbortSignal) => {
    await setImmediate()
    signal.throwIfAborted()
  }
  const sweep = createSweep({ store, vault, log: pino({ level: 'silent' }), everyMs, now, sleep, ...options })
  sweeps.push(sweep)
  sweep.start()
  return sweep
}
/** The results of the last complete round. */
const lastCounts = async () => (await readRound(setup.store))?.last ?? null
const roundEnds = () => expect.poll(() => lastCounts()).not.toBeNull()
/** Many users with a connection each, whose tokens are due. */
async function connectMany(users: number): Promise<void> {
  for (let user = 0; user < users; user++) {
    const refreshToken = `refresh of ${user}`
    await consent(setup.vault, { refreshToken }, { userId: `user ${user}`, bxcontext: 'ctx' })
  }
  setup.later(3600)
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
    // Half of it is longer than a minute, the precision of the last use.
    startSweep(1_000_000)
    await roundEnds()
    expect(setup.sent()).toEqual(['refresh-0'])
    expect(await lastCounts()).toMatchObject({ active: 3, refreshed: 1, revoked: 0, failed: 0 })
  })

  test.each([
    ['the interval of the last one was longer', 3600],
    ['the clock of the last one was ahead', -3600],
  ])('starts if %s', async (_what, seconds) => {
    setup = await connectedSetup()
    const last = startSweep(100_000_000)
    await roundEnds()
    await last.stop()
    setup.later(seconds)
    const again = vi.spyOn(setup.vault, 'list')
    startSweep(100_000)
    await expect.poll(() => again).toHaveBeenCalled()
  })

  test('starts again after the interval, not before', async () => {
    setup = await connectedSetup()
    let rounds = 0
    const list = async () => {
      rounds++
      return []
    }
    let looks = 0
    const read = setup.store.get
    vi.spyOn(setup.store, 'get').mockImplementation((key) => {
      looks++
      return read(key)
    })
    startSweep(1_000, { vault: { list, refresh: async () => true } })
    await roundEnds()
    setup.later(0.9)
    looks = 0
    await expect.poll(() => looks).toBeGreaterThan(10)
    expect(rounds).toBe(1)
    setup.later(0.1)
    await expect.poll(() => rounds).toBe(2)
  })
})

test('one process at a time runs a round, and another one continues it: each connection is refreshed once', async () => {
  const users = 60
  setup = await vaultSetup()
  await connectMany(users)
  const first = startSweep(2_000)
  startSweep(2_000, { vault: setup.anotherVault() })
  await expect.poll(() => setup.sent().length, { interval: 1 }).toBeGreaterThan(10)
  await first.stop()
  startSweep(2_000, { vault: setup.anotherVault() })
  await roundEnds()
  expect(new Set(setup.sent()).size).toBe(users)
  expect(setup.sent()).toHaveLength(users)
})

test('a round is spread over the interval', async () => {
  setup = await vaultSetup()
  await connectMany(20)
  const waits: number[] = []
  const sleep = async (ms: number) => {
    waits.push(ms)
    setup.later(ms / 1000)
    await setImmediate()
  }
  startSweep(20_000, { sleep })
  await roundEnds()
  const inRound = waits.slice(0, 20)
  expect(Math.min(...inRound)).toBeGreaterThan(300)
  expect(inRound.reduce((sum, ms) => sum + ms)).toBeLessThan(20_000)
})

test('an outage of the platform pauses the round, longer each time', async () => {
  setup = await vaultSetup()
  await connectMany(10)
  setup.endpoint.answers({ status: 503, json: {} })
  const waits: number[] = []
  const sleep = async (ms: number) => {
    waits.push(ms)
    await setImmediate()
  }
  startSweep(2_000, { sleep })
  await roundEnds()
  expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000])
  expect(Math.max(...waits)).toBe(300_000)
})
