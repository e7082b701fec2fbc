import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KillSetup, killSetup, STORES } from '../support/kill.ts'

const MOMENTS = 10

// The quick version, at named points, is in kill.test.ts.
describe.skipIf(!process.env.LONG_TESTS)('kill -9 of the app at random moments', () => {
  describe.each(STORES)('on $name', ({ redis, skip }) => {
    let setup: KillSetup
    beforeAll(async () => {
      if (skip) return
      const answering = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 10))
      setup = await killSetup({ redis, answering })
    })
    afterAll(() => setup?.close())

    test.skipIf(skip)(
      `leaves each connection whole, the old one or the new one: ${MOMENTS} kills during connects and refreshes`,
      async () => {
        let checked = 0
        for (let moment = 0; moment < MOMENTS; moment++) {
          const program = await setup.start()
          let alive = true
          const work = Promise.all(['a', 'b', 'c'].map((bxcontext) => keepBusy(bxcontext, () => alive)))
          // A busy machine can take longer than the random time to the first token request.
          const before = setup.requests.length
          await vi.waitUntil(() => setup.requests.length > before, { timeout: 60_000, interval: 1 })
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 400))
          await program.kill()
          alive = false
          await work
          checked += (await setup.checkRecords()).size
        }
        expect(setup.requests.length).toBeGreaterThan(MOMENTS)
        expect(checked).toBeGreaterThan(MOMENTS)
      },
    )

    /** Connects and refreshes one bxcontext until the app is gone. */
    async function keepBusy(bxcontext: string, alive: () => boolean): Promise<void> {
      while (alive()) {
        try {
          await setup.connect(bxcontext)
          await setup.refresh(bxcontext)
        } catch {
          // The app was killed meanwhile.
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
    }
  })
})
