import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ready } from '../../../src/connect/store/ready.ts'
import { type KeyValueStore, StoreUnavailableError } from '../../../src/connect/store/store.ts'

// Vitest's clock does not move these timers by itself.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}))
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

/** A store that answers a ping as `answer` says, which gets the number of the ping, from 1. */
function pinged(answer: (times: number) => Promise<void>) {
  const ping = vi.fn(() => answer(ping.mock.calls.length))
  const outcome = ready({ ping } as unknown as KeyValueStore).then(
    () => 'ready',
    (error: Error) => error.message,
  )
  return { ping, outcome }
}

async function endsAfterTwoSeconds(outcome: Promise<string>): Promise<void> {
  let isOver = false
  void outcome.then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(1_999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isOver).toBe(true)
}

const AWAY = () => Promise.reject(new StoreUnavailableError('away'))

test('a store that answers is ready at once', async () => {
  const { ping, outcome } = pinged(async () => {})
  await vi.advanceTimersByTimeAsync(0)
  expect(await outcome).toBe('ready')
  expect(ping).toHaveBeenCalledTimes(1)
})

test('a store that fails is tried every 100 ms, until it answers', async () => {
  const { ping, outcome } = pinged((times) => (times < 4 ? AWAY() : Promise.resolve()))
  await vi.advanceTimersByTimeAsync(299)
  expect(ping).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toBe('ready')
})

test('a store that keeps failing is waited for two seconds, and its error is thrown', async () => {
  const { ping, outcome } = pinged(AWAY)
  await endsAfterTwoSeconds(outcome)
  expect(await outcome).toMatch(/data store is not available/)
  expect(ping.mock.calls.length).toBeGreaterThan(18)
})

test('a store that fails and then is silent is waited for two seconds in all', async () => {
  const { outcome } = pinged((times) => (times < 11 ? AWAY() : new Promise(() => {})))
  await endsAfterTwoSeconds(outcome)
})

test('a store that is silent is waited for two seconds', async () => {
  const { ping, outcome } = pinged(() => new Promise(() => {}))
  await endsAfterTwoSeconds(outcome)
  expect(ping).toHaveBeenCalledTimes(1)
})
