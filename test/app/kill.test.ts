import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { killSetup } from '../support/kill.ts'

// Other points, many random moments, and the same on Redis are among the long tests.
test('kill -9 of the app while the answers of the platform arrive leaves each connection whole: the old one or the new one', async () => {
  const [bothAsked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let waiting = -2
  const setup = await killSetup({
    redis: false,
    async answering() {
      // The first two connect the accounts.
      if (++waiting <= 0) return
      if (waiting === 2) bothAsked.resolve()
      await answered.promise
    },
  })
  onTestFinished(setup.close)
  const program = await setup.start()
  await Promise.all(['first', 'second'].map((bxcontext) => setup.connect(bxcontext)))
  const before = await setup.checkRecords()
  const again = Promise.allSettled([setup.connect('first'), setup.refresh('second')])
  await bothAsked.promise
  answered.resolve()
  // The answers are on their way.
  await nextTurn()
  await program.kill()
  await again
  expect([...(await setup.checkRecords()).keys()].sort()).toEqual([...before.keys()].sort())
})
