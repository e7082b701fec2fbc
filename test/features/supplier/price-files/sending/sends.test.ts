/** The service alone: several machines on one store, each with a folder of its own, whose operations may fail. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PlatformRejectedError, PlatformUnavailableError } from '../../../../../src/connect/errors.ts'
import type { KeyValueStore } from '../../../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../../../src/features/supplier/price-files/catalogue-imports.ts'
import { rejectedIn } from '../../../../../src/features/supplier/price-files/contract.ts'
import deleteUser from '../../../../../src/features/supplier/price-files/delete-user.ts'
import type { Import } from '../../../../../src/features/supplier/price-files/import.ts'
import type { Imports, ImportsOptions } from '../../../../../src/features/supplier/price-files/imports.ts'
import { ReceivedStore } from '../../../../../src/features/supplier/price-files/received-store.ts'
import { turnKey } from '../../../../../src/features/supplier/price-files/turns.ts'
import { createLog } from '../../../../../src/runtime/log.ts'
import { createFaultyStore, forEachFault } from '../../../../support/faulty-store.ts'
import {
  ALL,
  API_URL,
  CHOICE,
  openImports,
  press,
  REF,
  rowsOf,
  settled,
  upload,
  uploadOnly,
} from './service-support.ts'

let faulty: ReturnType<typeof createFaultyStore>
beforeEach(() => {
  faulty = createFaultyStore()
  onTestFinished(() => faulty.store.close())
})
afterEach(() => faulty.heal())

const open = (
  platform: Partial<CatalogueImports> = {},
  options: Partial<ImportsOptions> = {},
  store = faulty.store,
) => openImports(store, platform, options)

/** What the catalogue has received: its codes and prices, and whether the last import ended. */
async function receivedOf(store: KeyValueStore = faulty.store) {
  const { received } = await new ReceivedStore(store, API_URL).read('1')
  return {
    prices: received?.prices.map(({ code, price }) => [code, price]) ?? [],
    isUnfinished: received?.isUnfinished,
  }
}
const pricesOf = (count: number) => Array.from({ length: count }, (_, row) => [`C${row}`, row + 1])
/** Resolves when so many prices were received. */
const receives = (count: number, isUnfinished = false, store = faulty.store) =>
  vi.waitFor(
    async () => expect(await receivedOf(store)).toEqual({ prices: pricesOf(count), isUnfinished }),
    20_000,
  )

/** Sends an import to its end. */
async function sendAll(imports: Imports, job: Import): Promise<Import> {
  const isNew = job.state === 'ready'
  expect(await (isNew ? press(imports, job) : imports.resume(job))).toMatchObject({ state: 'running' })
  return settled(imports, job)
}

describe('an import', () => {
  test('that is stopped in the middle is received so far, also the batch on its way, and goes on after it', async () => {
    let uploads = 0
    const imports = open({
      uploadItems: async () => {
        if (++uploads === 3) await imports.stop(job)
        return ALL
      },
      get: async () => ({ status: uploads < 5 ? 'Started' : 'Completed' }),
    })
    const job = await upload(imports, rowsOf(4_500))
    const stopped = await sendAll(imports, job)
    expect(stopped).toMatchObject({ state: 'stopped', problem: null })
    await receives(3_000, true)
    expect(await sendAll(imports, stopped)).toMatchObject({
      state: 'completed',
      progress: { sent: 4_500, batches: 5 },
    })
    expect(uploads).toBe(5)
    await receives(4_500)
  })

  test('of which items were rejected can be sent again, with all items', async () => {
    const answers = [{ errors: [{ code: 'C2', message: 'price too high' }] }]
    const imports = open({ uploadItems: async () => rejectedIn(answers.shift()) })
    const failed = await sendAll(imports, await upload(imports, rowsOf(1_500)))
    const problem = expect.stringMatching(/incomplete: the platform rejected 1 of 1500 items.*C2.*too high/)
    expect(failed).toMatchObject({ state: 'failed', problem })
    await receives(1_500, true)
    expect(await sendAll(imports, failed)).toMatchObject({
      state: 'completed',
      progress: { sent: 1_500, batches: 2 },
    })
  })

  test('of which nothing was accepted leaves the catalogue as it was, but unfinished, unless it had received nothing', async () => {
    const refusing = open({ start: () => Promise.reject(new PlatformRejectedError('the API answered 400')) })
    expect(await sendAll(refusing, await upload(refusing, rowsOf(2)))).toMatchObject({ state: 'failed' })
    const imports = open()
    expect(await receivedOf()).toEqual({ prices: [], isUnfinished: undefined })
    await sendAll(imports, await upload(imports, rowsOf(3)))
    await receives(3)
    const failed = await sendAll(refusing, await upload(refusing, rowsOf(4)))
    await receives(3, true)
    expect(await sendAll(imports, failed)).toMatchObject({ state: 'completed' })
    await receives(4)
  })

  test('that was stopped is shown anew, and not resumed, if something else was sent into the catalogue meanwhile', async () => {
    const imports: Imports = open({
      uploadItems: async () => {
        await imports.stop(job).catch(() => {})
        return ALL
      },
    })
    const job = await upload(imports, rowsOf(2_500))
    await press(imports, job)
    const stopped = await settled(imports, job)
    await receives(1_000, true)
    const other = open()
    const next = await upload(other, rowsOf(10, 7))
    expect(await sendAll(other, next)).toMatchObject({ state: 'completed' })
    await vi.waitFor(async () => expect((await receivedOf()).isUnfinished).toBe(false))
    expect(await other.resume(stopped)).toBeNull()
    expect(await other.stored.get(job)).toMatchObject({ state: 'ready', progress: null })
  })

  test('whose process has died is taken over by another one, which goes on after the last accepted batch', async () => {
    const uploads: string[] = []
    const stalled = Promise.withResolvers<typeof ALL>()
    const hanging = open({
      uploadItems: () => {
        uploads.push('first')
        return uploads.length === 1 ? Promise.resolve(ALL) : stalled.promise
      },
    })
    const job = await upload(hanging, rowsOf(2_500))
    await press(hanging, job)
    await vi.waitFor(() => expect(uploads).toEqual(['first', 'first']))
    // As a killed process leaves it: without an end, and with a turn that has expired.
    await faulty.store.delete(turnKey('1'))
    const other = open({
      uploadItems: async () => {
        uploads.push('other')
        return ALL
      },
    })
    working(other)
    expect(await settled(other, job)).toMatchObject({ state: 'completed', progress: { sent: 2_500 } })
    stalled.resolve(ALL)
    await receives(2_500)
  })

  test('that runs does not delay a shutdown, and the next process goes on with it', async () => {
    let isDown = true
    const platform = {
      uploadItems: async () => {
        if (isDown) throw new PlatformUnavailableError('error', 'the API answered 500', 100_000)
        return ALL
      },
    }
    const [one, next] = [open(platform), open(platform)]
    const job = await upload(one, rowsOf(3_000))
    await press(one, job)
    const waiting = async () => expect((await one.stored.get(job)).progress?.waiting).toMatch(/an error/)
    await vi.waitFor(waiting, { timeout: 60_000 })
    await one.sender.close()
    expect(await next.stored.get(job)).toMatchObject({ state: 'running' })
    isDown = false
    working(next)
    expect(await settled(next, job)).toMatchObject({ state: 'completed', progress: { sent: 3_000 } })
  })

  test('that waits for the platform can be stopped and discarded, and what it has sent stays received', async () => {
    let uploads = 0
    const imports = open({
      uploadItems: async () => {
        if (++uploads > 2) throw new PlatformUnavailableError('busy', 'the API answered 429', 100_000)
        return ALL
      },
    })
    const job = await upload(imports, rowsOf(3_000))
    await press(imports, job)
    await vi.waitFor(
      async () => expect((await imports.stored.get(job)).progress?.waiting).toBeTruthy(),
      20_000,
    )
    await expect(imports.discard(await imports.stored.get(job))).rejects.toMatchObject({ status: 409 })
    await imports.discard(await imports.stop(job))
    await expect(imports.stored.get(job)).rejects.toMatchObject({ status: 404 })
    await receives(2_000, true)
    expect(await faulty.store.ofOwner(job.id)).toEqual([])
  })

  test('whose items are gone says so, and sends nothing', async () => {
    const uploadItems = vi.fn(async () => ALL)
    const imports = open({ uploadItems })
    const job = await upload(imports, rowsOf(3))
    for (const { key } of await faulty.store.ofOwner(job.id))
      if (!key.id.endsWith(' 0')) await faulty.store.delete(key)
    const problem = expect.stringContaining('no longer available')
    expect(await sendAll(imports, job)).toMatchObject({ state: 'failed', problem })
    expect(uploadItems).not.toHaveBeenCalled()
  })

  test('is kept while it is among the last 20 of its user', async () => {
    const imports = open()
    const jobs: Import[] = []
    onTestFinished(() => void vi.useRealTimers())
    for (let count = 0; count < 21; count++) {
      vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ['Date'] })
      jobs.push(await uploadOnly(imports, rowsOf(1)))
    }
    const [first, ...kept] = jobs.map(({ id }) => id)
    expect((await imports.list(REF)).map(({ id }) => id)).toEqual(kept.reverse())
    expect(await faulty.store.ofOwner(first ?? '')).toEqual([])
  })
})

describe('Send', () => {
  test('without the tick of a box, or of a file that nobody has chosen how to read, sends nothing', async () => {
    const imports = open()
    const unread = await uploadOnly(imports, rowsOf(3))
    expect(await press(imports, unread)).toBeNull()
    const job = await upload(imports, rowsOf(3))
    const untouched = { seen: job.checkId, leftOut: [], confirmed: false }
    await expect(imports.send(job, untouched)).rejects.toMatchObject({ status: 400, code: 'invalid_input' })
    const none = await upload(imports, 'code,price\nA,-1\n')
    await expect(press(imports, none)).rejects.toMatchObject({ status: 400, code: 'invalid_input' })
  })
})

describe('while the store fails,', () => {
  test('an import that is sent, again if that was refused, is completed and received, whatever has failed', () =>
    forEachFault(async (failing, moment) => {
      const { store, failOnce, heal, count } = createFaultyStore()
      const imports = open({}, { turnMs: 1_500 }, store)
      const job = await upload(imports, rowsOf(2))
      failOnce(failing, moment)
      await press(imports, job).catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
      await imports.sender.close()
      const operations = count()
      heal()
      const next = open({}, { turnMs: 1_500 }, store)
      working(next)
      const { state } = await next.stored.get(job)
      if (state === 'ready') expect(await vi.waitFor(() => press(next, job), 20_000)).not.toBeNull()
      const progress = { sent: 2, batches: 1 }
      expect(await settled(next, job)).toMatchObject({ state: 'completed', problem: null, progress })
      await receives(2, false, store)
      return operations
    }))

  test('an upload that cannot be stored to its end can be repeated, and what is left of it deleted', async () => {
    const imports = open()
    let isDown = false
    faulty.failBy((operation, kind) => {
      if (isDown) return 'before'
      isDown = operation === 'set' && kind === 'import-part'
      return isDown ? 'after' : undefined
    })
    await expect(uploadOnly(imports, rowsOf(1))).rejects.toMatchObject({ code: 'store_unavailable' })
    faulty.heal()
    const [left] = await imports.list(REF)
    if (!left) throw new Error('its record is the first')
    await expect(press(imports, left)).rejects.toMatchObject({ status: 409 })
    await imports.discard(left)
    expect(await faulty.store.ofOwner(left.id)).toEqual([])
  })
})

test('a user can fill a quarter of the space for files, and all users together all of it, until an import is completed', async () => {
  const file = rowsOf(130)
  const imports = open({}, { totalBytes: 4.5 * Buffer.byteLength(file) })
  const refused = { status: 507, code: 'storage_full' }
  const jobs = await Promise.all(['sam', 'ann', 'bob', 'joe'].map((user) => upload(imports, file, user)))
  await expect(uploadOnly(imports, 'code,price\nA,1\n'.repeat(10), 'sam')).rejects.toMatchObject(refused)
  await expect(uploadOnly(imports, file, 'alex')).rejects.toMatchObject(refused)
  const [first] = jobs
  if (first) await sendAll(imports, first)
  await vi.waitFor(() => uploadOnly(imports, file, 'alex'), 20_000)
})

test('a user has at most five uploads at once, and others go on', async () => {
  const imports = open()
  const stalled = Promise.withResolvers<void>()
  async function* bytes() {
    await stalled.promise
    yield Buffer.from(rowsOf(1))
  }
  const to = { catalogue: { id: '1' }, fileName: 'prices.csv' }
  const five = Array.from({ length: 5 }, () => imports.upload(REF, to, bytes()))
  await expect(uploadOnly(imports, rowsOf(1))).rejects.toMatchObject({ status: 409, code: 'conflict' })
  expect(await uploadOnly(imports, rowsOf(1), 'alex')).toMatchObject({ userId: 'alex' })
  stalled.resolve()
  expect(await Promise.all(five)).toHaveLength(5)
})

test('a write that the client of the store repeats, because its answer was lost, loses nothing that was received', async () => {
  const { store } = faulty
  const imports = open()
  await sendAll(imports, await upload(imports, rowsOf(3)))
  await receives(3)
  let lost = 1
  const repeating: KeyValueStore = {
    ...store,
    compareAndSet: async (...write) => (await store.compareAndSet(...write)) && lost-- <= 0,
  }
  const memory = { headings: ['code', 'price'], texts: [], values: [] }
  const file = { fileName: 'b.csv', at: new Date().toISOString(), by: null, choice: CHOICE, memory }
  const sent = { ...file, items: [{ code: 'NEW', price: 1 }], isComplete: true }
  await new ReceivedStore(repeating, API_URL).merge('1', sent)
  expect((await receivedOf()).prices).toEqual([...pricesOf(3), ['NEW', 1]])
})

test('a user who is deleted while an import is sent is named nowhere, and what the catalogue has received stays', async () => {
  const stalled = Promise.withResolvers<typeof ALL>()
  const imports = open({ uploadItems: () => stalled.promise })
  const job = await upload(imports, rowsOf(2_500), 'zoë')
  await press(imports, job)
  const deps = { store: faulty.store, log: createLog('silent'), config: { platform: { apiUrl: API_URL } } }
  const deleting = deleteUser(deps as never, {}, 'zoë')
  await vi.waitFor(async () => expect(await imports.stored.get(job)).toMatchObject({ state: 'stopped' }))
  stalled.resolve(ALL)
  await deleting
  await receives(1_000, true)
  expect(await Array.fromAsync(new ReceivedStore(faulty.store, API_URL).naming('zoë'))).toEqual([])
  const next = await imports.reading(await uploadOnly(imports, rowsOf(4)))
  expect(next?.outline.lastChoice).toMatchObject({ by: null })
})

/** Looks for work until the test ends. */
function working(imports: Imports): void {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  void imports.sender.work(stop.signal)
}
