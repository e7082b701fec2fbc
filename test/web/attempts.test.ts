import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAttempts } from '../../src/web/attempts.ts'

const ANN = 'ann@ridgeline.example'
const WINDOW_MS = 15 * 60_000
const right = async () => 'a user'
const wrong = async () => null

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** How many of so many attempts are made. */
async function made(attempts: number, next: (index: number) => Promise<unknown>): Promise<number> {
  const results = await Promise.allSettled(Array.from({ length: attempts }, (_, index) => next(index)))
  return results.filter(({ status }) => status === 'fulfilled').length
}

test('of one account from one network are ten made in 15 minutes, one after the other or all at once', async () => {
  const attempt = createAttempts()
  expect(await made(20, () => attempt('192.0.2.1', ANN, wrong))).toBe(10)
  vi.setSystemTime(Date.now() + WINDOW_MS - 1_000)
  await expect(attempt('192.0.2.1', 'Ann@Ridgeline.example', right)).rejects.toMatchObject({
    code: 'too_many_attempts',
    status: 429,
    retryAfterMs: 1_000,
    message: 'Too many sign-ins have failed. Please try again in a minute.',
  })
  vi.setSystemTime(Date.now() + 1_000)
  expect(await attempt('192.0.2.1', ANN, right)).toBe('a user')
})

test('lock out neither the user elsewhere nor other users of the network', async () => {
  const attempt = createAttempts()
  await made(120, () => attempt('192.0.2.1', ANN, wrong))
  expect(await attempt('192.0.2.2', ANN, right)).toBe('a user')
  expect(await attempt('192.0.2.1', 'bob@ridgeline.example', right)).toBe('a user')
})

test.each([
  ['of many accounts from one address', 50, () => '192.0.2.1'],
  ['of many accounts from one IPv6 network', 50, (index: number) => `2001:db8:0:1::${index.toString(16)}`],
  ['of many accounts from many IPv6 networks', 120, (index: number) => `2001:db8:0:${index.toString(16)}::1`],
])('%s, %i of 120 are made', async (_what, expected, ipOf) => {
  const attempt = createAttempts()
  expect(await made(120, (index) => attempt(ipOf(index), `user-${index}`, wrong))).toBe(expected)
})

test('of one account from many networks are 100 made', async () => {
  const attempt = createAttempts()
  expect(await made(120, (index) => attempt(`198.51.100.${index}`, ANN, wrong))).toBe(100)
})

test('count only if they fail: not if they succeed, nor if an error keeps them from being decided', async () => {
  const attempt = createAttempts()
  for (let times = 0; times < 60; times++) {
    expect(await attempt('192.0.2.1', ANN, right)).toBe('a user')
    await expect(attempt('192.0.2.1', ANN, () => Promise.reject(new Error('a fault')))).rejects.toThrow(
      'a fault',
    )
  }
  expect(await made(20, () => attempt('192.0.2.1', ANN, wrong))).toBe(10)
})
