import { expect, test } from 'vitest'
import {
  type AuthorizationRequests,
  type Consent,
  createAuthorizationRequests,
} from '../../../src/connect/authorization/authorization-requests.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'

const ANN = { userId: 'ann', session: 'session' }
const MINUTE = 60_000

/** What the consent url needs; no other context was expected. */
async function consent(attempts: AuthorizationRequests): Promise<Consent> {
  const bound = await attempts.bindContext(ANN, 'ctx')
  if ('id' in bound) throw new Error('another context was expected')
  return bound
}

function setup() {
  let time = Date.now()
  const now = () => time
  const attempts = createAuthorizationRequests(openSqlite({ file: ':memory:', now }), now)
  return {
    attempts,
    later: (ms: number) => {
      time += ms
    },
  }
}

test('an attempt lives 15 minutes from its beginning until its context', async () => {
  const { attempts, later } = setup()
  await attempts.start(ANN)
  later(15 * MINUTE + 1)
  await expect(attempts.bindContext(ANN, 'ctx')).rejects.toMatchObject({ code: 'no_attempt' })
})

test('an attempt lives 15 minutes from its beginning until its callback', async () => {
  const { attempts, later } = setup()
  await attempts.start(ANN)
  later(14 * MINUTE)
  const { state } = await consent(attempts)
  later(MINUTE + 1)
  await expect(attempts.claim(ANN, state)).rejects.toMatchObject({ code: 'unknown_attempt' })
})

test('an attempt lives its own 15 minutes, whatever was begun and abandoned before', async () => {
  const { attempts, later } = setup()
  await attempts.start(ANN)
  later(14.9 * MINUTE)
  await attempts.start(ANN)
  const { state } = await consent(attempts)
  later(14.9 * MINUTE)
  expect(await attempts.claim(ANN, state)).toMatchObject({ context: 'ctx' })
})

test('an attempt is claimed by one of many', async () => {
  const { attempts } = setup()
  await attempts.start(ANN)
  const { state, codeVerifier } = await consent(attempts)
  const claims = Promise.all(
    Array.from({ length: 20 }, async () => {
      const claim = await attempts.claim(ANN, state)
      if (!('end' in claim)) return claim
      expect(claim).toMatchObject({ context: 'ctx', codeVerifier })
      await claim.end({ connected: 'ctx' })
      return 'claimed'
    }),
  )
  const results = await claims
  expect(results.filter((result) => result === 'claimed')).toHaveLength(1)
  expect(results.filter((result) => result !== 'claimed')).toEqual(Array(19).fill({ connected: 'ctx' }))
})

test('an attempt whose exchange was cut off by a crash is never exchanged again', async () => {
  const { attempts, later } = setup()
  await attempts.start(ANN)
  const { state } = await consent(attempts)
  await attempts.claim(ANN, state)
  const second = attempts.claim(ANN, state)
  later(46_000)
  await expect(second).rejects.toMatchObject({ code: 'unfinished', status: 503 })
})

test('a session can have no more than 20 attempts waiting', async () => {
  const { attempts } = setup()
  for (let begun = 0; begun < 30; begun++) await attempts.start(ANN)
  for (let used = 0; used < 20; used++) await attempts.bindContext(ANN, 'ctx')
  await expect(attempts.bindContext(ANN, 'ctx')).rejects.toMatchObject({ code: 'no_attempt' })
})
