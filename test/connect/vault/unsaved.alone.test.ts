import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NotConnectedError } from '../../../src/connect/platform/errors.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import type { ActiveConnection } from '../../../src/connect/vault/connection.ts'
import { createUnsavedTokens } from '../../../src/connect/vault/unsaved.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { REF } from '../../support/vault.ts'

// Vitest's clock does not move these timers by itself.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}))

const BASE = { ...REF, grantId: 'grant', connectedAt: 100, requestedAt: 100, accessToken: 'first' }
const connection = (changes: Partial<ActiveConnection> = {}) => ({ ...BASE, ...changes }) as ActiveConnection

let logLines: string[]
let unsaved: ReturnType<typeof createUnsavedTokens>
beforeEach(() => {
  vi.useFakeTimers()
  logLines = []
  unsaved = createUnsavedTokens(createLog('info', { write: (line) => void logLines.push(line) }))
})
afterEach(() => vi.useRealTimers())

/** Saves tokens with a store that fails `failures` times. */
async function save(
  of: ActiveConnection,
  failures = Number.POSITIVE_INFINITY,
  error: Error = new StoreUnavailableError('full'),
) {
  let times = 0
  const undone = vi.fn(async () => {})
  const write = vi.fn(async () => {
    if (times++ < failures) throw times === 1 ? new StoreUnavailableError('full') : error
    return of
  })
  return { ...(await unsaved.save(of, write, undone)), write, undone }
}

describe('tokens that the store refuses', () => {
  test('are tried again after 100 ms, and then with growing pauses of at most a second', async () => {
    const { write, isUnsaved } = await save(connection())
    expect(isUnsaved).toBe(true)
    await vi.advanceTimersByTimeAsync(99)
    expect(write).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(write).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(60_000)
    const inAMinute = write.mock.calls.length
    expect(inAMinute).toBeGreaterThan(55)
    expect(inAMinute).toBeLessThan(140)
  })

  test('are lost after ten minutes, which is logged', async () => {
    await save(connection())
    await vi.advanceTimersByTimeAsync(595_000)
    expect(unsaved.find(REF)).toBeDefined()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(unsaved.find(REF)).toBeUndefined()
    expect(logLines.at(-1)).toMatch(/"code":"tokens_lost".*"reason":"full"/)
  })

  test('are found until they are stored', async () => {
    const { saved } = await save(connection(), 2)
    expect(unsaved.find(REF)).toMatchObject({ accessToken: 'first' })
    expect(unsaved.ofUser(REF.userId)).toHaveLength(1)
    expect(unsaved.ofUser('another')).toEqual([])
    await vi.advanceTimersByTimeAsync(5_000)
    await saved
    expect(unsaved.find(REF)).toBeUndefined()
    expect(logLines.join()).toContain('were stored after the store had failed')
  })

  test.each([
    [new NotConnectedError(), false],
    [new RangeError('of ours'), true],
  ])('and then (%s) are called lost: %s', async (error, isLost) => {
    const { saved } = await save(connection(), 2, error)
    await vi.advanceTimersByTimeAsync(5_000)
    await saved
    expect(logLines.join().includes('tokens_lost')).toBe(isLost)
  })

  test('are written no more once newer ones take their place, or the connection is forgotten', async () => {
    const older = await save(connection())
    const newer = await save(connection({ requestedAt: 101, accessToken: 'second' }))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(older.write).toHaveBeenCalledTimes(1)
    const before = newer.write.mock.calls.length
    expect(before).toBeGreaterThan(2)
    unsaved.forget(REF)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(newer.write).toHaveBeenCalledTimes(before)
  })

  test('that were written although the connection was forgotten are removed, however often that fails; until then it is not idle', async () => {
    const { undone } = await save(connection(), 1)
    undone
      .mockRejectedValueOnce(new StoreUnavailableError('down'))
      .mockRejectedValueOnce(new StoreUnavailableError('down'))
    unsaved.forget(REF)
    const idle = vi.fn()
    void unsaved.idle().then(idle)
    await vi.advanceTimersByTimeAsync(200)
    expect(undone).toHaveBeenCalledTimes(1)
    expect(idle).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(undone).toHaveBeenCalledTimes(3)
    expect(idle).toHaveBeenCalled()
  })

  test('are called lost when the app stops, once', async () => {
    await save(connection())
    unsaved.discard()
    unsaved.discard()
    expect(logLines.filter((line) => line.includes('tokens_lost'))).toHaveLength(1)
    expect(unsaved.find(REF)).toBeUndefined()
  })
})

describe('of two results that the store refuses', () => {
  test.each([
    ['requested later, of the same grant', { requestedAt: 101 }, 'second'],
    ['requested at the same time', {}, 'second'],
    ['requested earlier', { requestedAt: 99 }, 'first'],
    ['of a later consent', { grantId: 'other', connectedAt: 101, requestedAt: 1 }, 'second'],
    ['of a consent at the same time', { grantId: 'other', requestedAt: 1 }, 'second'],
    ['of an earlier consent', { grantId: 'other', connectedAt: 99, requestedAt: 200 }, 'first'],
  ])('the second one, %s: one of them is kept', async (_what, changes, kept) => {
    await save(connection())
    const second = await save(connection({ accessToken: 'second', ...changes }))
    expect(second).toMatchObject({ isUnsaved: true, connection: { accessToken: kept } })
    expect(unsaved.find(REF)).toMatchObject({ accessToken: kept })
  })

  test.each([
    ['newer', { requestedAt: 101 }, undefined],
    ['older', { requestedAt: 99 }, 'first'],
  ])('and a third one that it accepts, which is %s', async (_what, changes, left) => {
    await save(connection())
    expect(await save(connection(changes), 0)).toMatchObject({ isUnsaved: false })
    expect(unsaved.find(REF)?.accessToken).toBe(left)
  })
})
