import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KillSetup, killSetup, STORES } from '../support/kill.ts'
import type { Program } from '../support/process.ts'
import { tapProxy } from './tap-proxy.ts'

describe.each(STORES)('kill -9 of the app on $name', ({ redis, skip }) => {
  let setup: KillSetup
  let program: Program
  /** Runs when both token requests have arrived and wait for their answers. */
  let bothWait = async () => {}
  let waiting = 0
  let held = false
  let release = () => {}
  let answered = Promise.resolve()
  let kills = 0

  beforeAll(async () => {
    if (skip) return
    setup = await killSetup({
      redis,
      async answering() {
        if (!held) return
        if (++waiting === 2) void bothWait().then(release)
        await answered
      },
    })
  })
  afterAll(() => setup?.close())

  /** Starts the app and connects two accounts. A killed process may have left the locks of earlier ones. */
  async function startConnected(extra?: Record<string, string>): Promise<[string, string]> {
    held = false
    kills++
    program = await setup.start(extra)
    const names = [`first-${kills}`, `second-${kills}`] as [string, string]
    await Promise.all(names.map((bxcontext) => setup.connect(bxcontext)))
    return names
  }

  /**
   * Kills the app at a point of connecting one account again while another one is refreshed. Resolves to the access
   * tokens before and after.
   */
  async function killAt(point: () => Promise<void>, extra?: Record<string, string>) {
    const [first, second] = await startConnected(extra)
    const before = await setup.checkRecords()
    answered = new Promise((resolve) => {
      release = resolve
    })
    waiting = 0
    held = true
    bothWait = point
    await Promise.allSettled([setup.connect(first), setup.refresh(second)])
    await program.exited
    return { before, after: await setup.checkRecords() }
  }

  test.skipIf(skip)('before the platform has answered leaves the old connections', async () => {
    const { before, after } = await killAt(async () => void (await program.kill()))
    expect(after).toEqual(before)
  })

  test.skipIf(skip)(
    'while the answers of the platform arrive leaves each connection whole: the old one or the new one',
    async () => {
      const { before, after } = await killAt(async () => {
        release()
        // The answers are on their way.
        await nextTurn()
        await program.kill()
      })
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    },
  )

  test.skipIf(skip)('once the user has seen the result leaves the new connections', async () => {
    const [first, second] = await startConnected()
    const before = await setup.checkRecords()
    await Promise.all([setup.connect(first), setup.refresh(second)])
    await program.kill()
    const after = await setup.checkRecords()
    for (const bxcontext of [first, second]) expect(after.get(bxcontext)).not.toBe(before.get(bxcontext))
  })

  test.skipIf(skip || !redis)(
    'as a write is on its way to Redis leaves each connection whole: the old one or the new one',
    async () => {
      for (const delivered of [false, true]) {
        const proxy = await tapProxy(setup.redisPort ?? 0)
        const { before, after } = await killAt(
          async () => {
            proxy.tap(async () => {
              await program.kill()
              return delivered
            })
          },
          { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
        )
        proxy.close()
        expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
      }
    },
  )
})
