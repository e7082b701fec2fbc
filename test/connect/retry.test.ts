import { expect, test, vi } from 'vitest'
import { NotConnectedError, PlatformUnavailableError } from '../../src/connect/errors.ts'
import { retry, sleep } from '../../src/connect/index.ts'

const QUICK = { pauseMs: 1, maxPauseMs: 1 }
const failing = (error: Error) => vi.fn(() => Promise.reject(error))

test.each([new NotConnectedError(), new TypeError('a bug')])(
  'an error that a repetition does not cure is thrown at once: %o',
  async (error) => {
    const work = failing(error)
    await expect(retry(work, QUICK)).rejects.toBe(error)
    expect(work).toHaveBeenCalledTimes(1)
  },
)

test('an outage is tried again, with its reason told before each pause, until the attempts run out', async () => {
  const error = new PlatformUnavailableError('no_answer', 'the reason')
  const [work, onWait] = [failing(error), vi.fn()]
  await expect(retry(work, { ...QUICK, attempts: 3, onWait })).rejects.toBe(error)
  expect(work).toHaveBeenCalledTimes(3)
  expect(onWait.mock.calls).toEqual([
    ['the reason', error],
    ['the reason', error],
  ])
})

test('a pause longer than the time that is left is not begun', async () => {
  const work = failing(new PlatformUnavailableError('busy', 'busy', 60_000))
  await expect(retry(work, { ...QUICK, timeoutMs: 50_000 })).rejects.toThrow()
  expect(work).toHaveBeenCalledTimes(1)
})

test('whoever aborts a pause gets the reason', async () => {
  const aborted = new AbortController()
  const work = failing(new PlatformUnavailableError('busy', 'busy', 60_000))
  const onWait = () => void setImmediate(() => aborted.abort(new Error('enough')))
  await expect(retry(work, { signal: aborted.signal, onWait })).rejects.toThrow('enough')
  expect(work).toHaveBeenCalledTimes(1)
})

test('whoever aborts a sleep gets the reason', async () => {
  const aborted = new AbortController()
  const sleeping = sleep(60_000, aborted.signal)
  aborted.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow('enough')
})
