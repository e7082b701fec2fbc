import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { REF } from '../../support/vault.ts'

const DAY = 24 * 3_600_000
const OTHER = { ...REF, bxcontext: 'other' }
const OK = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
const forbidden = (call: string, scope: string | null = null) =>
  ({ result: 'forbidden', call, scope }) as const

let time: number
let store: ReturnType<typeof openSqlite>
let records: ReturnType<typeof createHealthRecords>
beforeEach(() => {
  time = Date.now()
  store = openSqlite({ file: ':memory:', now: () => time })
  records = createHealthRecords(store, 'platform', () => time)
})
afterEach(() => store.close())

const stored = () => store.get({ kind: 'platform-health', owner: 'ann', id: 'ctx' })

test('a healthy connection has no record', async () => {
  await records.noteCall(REF, OK)
  expect(await stored()).toBeNull()
  await records.noteRefusal(REF, 'grant', true)
  await records.tokenRejected(REF)
  await records.refreshFailed(REF)
  await records.noteRefreshProblem(REF, 'error')
  expect(await stored()).not.toBeNull()
  await records.refreshSucceeded(REF)
  expect(await stored()).toBeNull()
})

test('a record is kept for 30 days', async () => {
  await records.noteRefreshProblem(REF, 'error')
  time += 30 * DAY - 1
  expect(await records.read(REF)).toMatchObject({ problem: 'error' })
  time += 1
  expect(await records.read(REF)).toMatchObject({ problem: null })
})

test('a refresh that succeeds says whether the one before had failed', async () => {
  expect(await records.refreshSucceeded(REF)).toBe(false)
  expect(await records.refreshFailed(REF)).toBe(1)
  expect(await records.refreshFailed(REF)).toBe(2)
  expect(await records.refreshSucceeded(REF)).toBe(true)
  expect(await records.refreshSucceeded(REF)).toBe(false)
})

describe('a refusal', () => {
  test('counts as the end of access at the second one, 30 s after the first, and is new once', async () => {
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false, isNew: false })
    time += 29_999
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false })
    time += 1
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: true, isNew: true })
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: true, isNew: false })
    expect((await records.read(REF)).refused).toMatchObject({ since: time - 30_000, confirmed: true })
  })

  test('does not count sooner on a machine whose clock is ahead', async () => {
    const ahead = createHealthRecords(store, 'platform', () => time + 600_000)
    await records.noteRefusal(REF, 'grant', true)
    expect(await ahead.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false })
    time += 30_000
    expect(await ahead.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: true })
  })

  test('that comes first after the token expired does not count, however long the token was refused before', async () => {
    await records.noteRefusal(REF, 'grant', false)
    time += 60_000
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false })
    time += 29_999
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false })
  })

  test('that comes first does not count, also if the process was stopped, or the store loses what expires', async () => {
    const { set } = store
    vi.spyOn(store, 'set').mockImplementationOnce(async (...args) => {
      await set(...args)
      time += 30_000
    })
    expect(await records.noteRefusal(REF, 'grant', true)).toMatchObject({ confirmed: false })
  })

  test('belongs to its grant: that of another one begins again', async () => {
    await records.noteRefusal(REF, 'first', true)
    await records.confirmRefusal(REF, 'first')
    expect(await records.confirmRefusal(REF, 'second')).toBeNull()
    expect((await records.read(REF)).refused).toMatchObject({ grantId: 'first' })
    time += 30_000
    expect(await records.noteRefusal(REF, 'second', true)).toMatchObject({ confirmed: false, isNew: false })
  })

  test.each([
    ['succeeds', OK, true],
    ['is forbidden', forbidden('GET leads'), true],
    ['gets no answer', { result: 'unavailable', kind: 'no_answer' } as const, false],
  ])('that counted is over when a call %s', async (_how, outcome, isOver) => {
    expect(await records.noteCall(REF, outcome)).toBe(false)
    await records.noteRefusal(REF, 'grant', true)
    expect(await records.noteCall(REF, outcome)).toBe(false)
    await records.noteRefusal(REF, 'grant', true)
    await records.confirmRefusal(REF, 'grant')
    expect(await records.noteCall(REF, outcome)).toBe(isOver)
    expect((await records.read(REF)).refused === null).toBe(isOver)
  })
})

test('a rejected token counts once a minute, also on a machine whose clock is off', async () => {
  const ahead = createHealthRecords(store, 'platform', () => time + 600_000)
  const behind = createHealthRecords(store, 'platform', () => time - 600_000)
  expect(await records.tokenRejected(REF)).toBe(1)
  expect(await ahead.tokenRejected(REF)).toBe(1)
  time += 60_000
  expect(await behind.tokenRejected(REF)).toBe(2)
})

test('a token that is rejected in the same minute as the one of an earlier consent does not count', async () => {
  await records.tokenRejected(REF)
  await records.clear(REF)
  expect(await records.tokenRejected(REF)).toBe(0)
})

describe('forbidden calls', () => {
  const calls = async () => (await records.read(REF)).forbidden.map(({ call }) => call)

  test('are listed once each, the latest 20 of them', async () => {
    for (let call = 1; call <= 25; call++) await records.noteCall(REF, forbidden(`GET ${call}`))
    await records.noteCall(REF, forbidden('GET 10'))
    expect(await calls()).toHaveLength(20)
    expect((await calls()).slice(-2)).toEqual(['GET 25', 'GET 10'])
  })

  test('are permitted again when the same call, or one with their scope, succeeds', async () => {
    await records.noteCall(REF, forbidden('GET leads', 'other'))
    await records.noteCall(REF, forbidden('GET lead', 'leads'))
    await records.noteCall(REF, forbidden('GET items', 'catalogues'))
    await records.noteCall(REF, OK)
    expect(await calls()).toEqual(['GET items'])
  })
})

describe('calls that succeed', () => {
  let clock: number
  beforeEach(() => {
    clock = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => clock)
  })
  /** How often the store is read by a call that succeeds. */
  async function reads(ref = REF): Promise<number> {
    const get = vi.spyOn(store, 'get')
    await records.noteCall(ref, OK)
    const times = get.mock.calls.length
    get.mockRestore()
    return times
  }

  test('look for a problem of another process at most four times a second', async () => {
    expect(await reads()).toBe(1)
    clock += 249
    expect(await reads()).toBe(0)
    clock += 1
    expect(await reads()).toBe(1)
  })

  test('look at once after a problem, and after the record was cleared', async () => {
    await records.noteRefreshProblem(REF, 'misconfigured')
    expect([await reads(), await reads()]).toEqual([1, 1])
    await records.refreshSucceeded(REF)
    expect(await reads()).toBe(0)
    await records.clear(REF)
    expect(await reads()).toBe(1)
  })

  test('look again for 10,000 connections, each by itself', async () => {
    for (let index = 0; index < 9_999; index++) await reads({ ...REF, bxcontext: `c${index}` })
    expect([await reads(OTHER), await reads(OTHER)]).toEqual([1, 0])
    expect(await reads({ ...REF, bxcontext: 'c0' })).toBe(0)
    // One more than are remembered.
    expect(await reads()).toBe(1)
    expect(await reads(OTHER)).toBe(1)
  })
})
