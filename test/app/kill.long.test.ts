import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KillSetup, killSetup, STORES } from '../support/kill.ts'
import type { Program } from '../support/process.ts'
import { tapProxy } from '../support/tap-proxy.ts'

const RANDOM_MOMENTS = 2

describe.each(STORES)('kill -9 of the app on $name', ({ redis, skip }) => {
  let setup: KillSetup
  let program: Program
  /** Runs before each answer of the platform. */
  let answering = async () => {}
  let starts = 0

  beforeAll(async () => {
    if (!skip) setup = await killSetup({ redis, answering: () => answering() })
  })
  afterAll(() => setup?.close())

  /** Starts the app and connects two accounts. A killed process may have left the locks of earlier ones. */
  async function startConnected(extra?: Record<string, string>): Promise<[string, string]> {
    answering = async () => {}
    program = await setup.start(extra)
    starts++
    const names: [string, string] = [`first-${starts}`, `second-${starts}`]
    await Promise.all(names.map((bxcontext) => setup.connect(bxcontext)))
    return names
  }

  /**
   * Reconnects one account and refreshes another. When both token requests have arrived, calls `point`, which kills the app at the
   * moment to test; `release` sends the answers. Resolves to the access tokens before and after.
   */
  async function killAt(point: (release: () => void) => Promise<void>, extra?: Record<string, string>) {
    const [first, second] = await startConnected(extra)
    const before = await setup.checkRecords()
    const answered = Promise.withResolvers<void>()
    let waiting = 0
    answering = () => {
      if (++waiting === 2) void point(answered.resolve).then(answered.resolve)
      return answered.promise
    }
    await Promise.allSettled([setup.connect(first), setup.refresh(second)])
    await program.exited
    return { before, after: await setup.checkRecords() }
  }

  test.skipIf(skip)('before the platform has answered leaves the old connections', async () => {
    const { before, after } = await killAt(async () => void (await program.kill()))
    expect(after).toEqual(before)
  })

  test.skipIf(skip)('once the user has seen the result leaves the new connections', async () => {
    const names = await startConnected()
    const before = await setup.checkRecords()
    await Promise.all([setup.connect(names[0]), setup.refresh(names[1])])
    await program.kill()
    const after = await setup.checkRecords()
    for (const bxcontext of names) expect(after.get(bxcontext)).not.toBe(before.get(bxcontext))
  })

  test.skipIf(skip)(
    'while the answers of the platform arrive leaves each connection whole: the old one or the new one',
    async () => {
      const { before, after } = await killAt(async (release) => {
        release()
        // The answers are on their way.
        await nextTurn()
        await program.kill()
      })
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    },
  )

  test.runIf(redis && !skip).each([false, true])(
    'as a write is on its way to Redis leaves each connection whole: the old one or the new one (delivered: %s)',
    async (delivered) => {
      const proxy = await tapProxy(setup.redisPort ?? 0)
      const { before, after } = await killAt(
        async () =>
          proxy.tap(async () => {
            await program.kill()
            return delivered
          }),
        { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
      )
      proxy.close()
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    },
  )

  test.skipIf(skip)(
    `at ${RANDOM_MOMENTS} random moments of connects and refreshes leaves each connection whole`,
    async () => {
      answering = () => pause(Math.random() * 10)
      let checked = 0
      for (let moment = 0; moment < RANDOM_MOMENTS; moment++) {
        program = await setup.start()
        let alive = true
        const work = Promise.all(['a', 'b', 'c'].map((bxcontext) => keepBusy(bxcontext, () => alive)))
        // A busy machine can take longer than the random time to the first token request.
        const before = setup.requests.length
        await vi.waitUntil(() => setup.requests.length > before, { timeout: 60_000, interval: 1 })
        await pause(Math.random() * 400)
        await program.kill()
        alive = false
        await work
        checked += (await setup.checkRecords()).size
      }
      expect(checked).toBeGreaterThan(RANDOM_MOMENTS)
    },
  )

  /** Connects and refreshes a single bxcontext until the app ends. */
  async function keepBusy(bxcontext: string, alive: () => boolean): Promise<void> {
    while (alive()) {
      try {
        await setup.connect(bxcontext)
        await setup.refresh(bxcontext)
      } catch {
        // The app was killed in the meantime.
        await pause(5)
      }
    }
  }
})
