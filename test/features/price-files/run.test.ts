import { setTimeout } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import {
  PlatformRejectedError,
  PlatformUnavailableError,
  StoreUnavailableError,
} from '../../../src/connect/errors.ts'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import { checkFile } from '../../../src/features/price-files/check-file.ts'
import { rejectedIn } from '../../../src/features/price-files/contract.ts'
import { NOTHING_SENT, type Progress } from '../../../src/features/price-files/import.ts'
import { ACCEPTING } from './service-support.ts'
import { itemOf, itemsOfRows, priceFile, supplierOfEachTest } from './support.ts'

const { platform, items, send } = supplierOfEachTest()

describe('an import', () => {
  test('ends with exactly the file’s items in the catalogue, and reports items, batches and the platform’s own count while it runs', async () => {
    const seen: Progress[] = []
    const outcome = await send(4_345, { onProgress: (progress) => seen.push({ ...progress }) })
    expect(outcome).toMatchObject({ sent: 4_345, batches: 5 })
    expect(await items()).toEqual(itemsOfRows(4_345))
    expect(seen.map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['starting', 'sending', 'processing']),
    )
    expect(seen.at(-1)).toMatchObject({
      phase: 'processing',
      sent: 4_345,
      batches: 5,
      processed: 4_345,
    })
  })

  test.each(['Completed', 'failed'])('whose job has ended (%s) goes into a new job', async (status) => {
    const ended = new Set(['b1', 'b1.2'])
    const uploaded: string[] = []
    const catalogueImports: CatalogueImports = {
      ...ACCEPTING,
      start: async (_source, _id, batchId) => ({ status: ended.has(batchId) ? status : 'Started' }),
      uploadItems: async (_source, _id, batchId) => {
        if (ended.has(batchId)) throw new PlatformRejectedError('the API answered 409')
        uploaded.push(batchId)
        return undefined
      },
    }
    expect(await send(1_500, { catalogueImports })).toMatchObject({ sent: 1_500 })
    expect(uploaded).toEqual(['b1.3', 'b1.3'])
  })

  test('sends no other batch while the platform says that it accepts no more for now', async () => {
    const sent: string[] = []
    const uploadItems: CatalogueImports['uploadItems'] = async (_source, _id, _batch, body) => {
      sent.push(JSON.parse(Buffer.from(body).toString()).items[0].code)
      if (sent.length === 1) throw new PlatformUnavailableError('busy', 'the API answered 429', 600)
    }
    await send(2_000, { catalogueImports: { ...ACCEPTING, uploadItems } })
    expect(sent).toEqual([itemOf(0), itemOf(0), itemOf(1_000)].map(({ code }) => code))
  })

  test('that the platform closes while it is idle goes on in a new one, in the same run', async () => {
    const uploaded: string[] = []
    const catalogueImports: CatalogueImports = {
      start: async (_source, _id, batchId) => ({
        status: batchId === 'b1' && uploaded.length > 0 ? 'Completed' : 'Started',
      }),
      uploadItems: async (_source, _id, batchId) => {
        if (batchId === 'b1' && uploaded.length > 0) throw new PlatformRejectedError('the API answered 409')
        uploaded.push(batchId)
      },
      get: async (_source, _id, batchId) => ({
        status: 'Completed',
        itemsReceived: batchId === 'b1' ? 1_000 : 1_500,
        itemsProcessed: batchId === 'b1' ? 1_000 : 1_500,
      }),
    }
    expect(await send(2_500, { catalogueImports })).toMatchObject({ sent: 2_500, batches: 3 })
    expect(uploaded).toEqual(['b1', 'b1.2', 'b1.2'])
  })

  test('of which the platform lists rejected items ends as incomplete, and names them', async () => {
    const answers = [{ errors: [{ code: 'R2', message: 'price too high' }] }, {}]
    const uploadItems = async () => rejectedIn(answers.shift())
    const sending = send(1_500, { catalogueImports: { ...ACCEPTING, uploadItems } })
    await expect(sending).rejects.toThrow(
      /incomplete: the platform rejected 1 of 1500 items.*R2.*price too high/,
    )
  })

  test.each(['COMPLETED', 'done'])('ends when its state is %s', async (status) => {
    const catalogueImports = { ...ACCEPTING, get: async () => ({ status }) }
    expect(await send(10, { catalogueImports })).toMatchObject({ sent: 10 })
  })
})

describe('an interrupted import', () => {
  const ACCEPTED = { ...NOTHING_SENT, batchId: 'b1', importSent: 2_000, sent: 2_000, batches: 2 }
  /** A platform with an import in this state; records what is sent to it. */
  function platformWith(state: { status: string; itemsReceived?: number; itemsProcessed?: number }) {
    const uploads: string[] = []
    const started: string[] = []
    const catalogueImports: CatalogueImports = {
      start: async (_source, _id, batchId) => {
        started.push(batchId)
        return batchId === 'b1' ? state : { status: 'Started' }
      },
      uploadItems: async (_source, _id, batchId, body) => {
        const [first] = JSON.parse(Buffer.from(body).toString()).items
        uploads.push(`${batchId} ${first.code}`)
      },
      get: async () => (uploads.length === 0 ? state : { status: 'Completed' }),
    }
    return { catalogueImports, uploads, started }
  }
  const THIRD = itemOf(2_000).code

  test('goes on after the last accepted batch, in the same import', async () => {
    const { catalogueImports, uploads } = platformWith({ status: 'Started', itemsReceived: 2_000 })
    expect(await send(2_500, { catalogueImports, accepted: ACCEPTED })).toMatchObject({
      sent: 2_500,
      batches: 3,
    })
    expect(uploads).toEqual([`b1 ${THIRD}`])
  })

  test('goes on in a new import if the platform has completed the old one meanwhile', async () => {
    const { catalogueImports, uploads } = platformWith({ status: 'Completed', itemsReceived: 2_000 })
    expect(await send(2_500, { catalogueImports, accepted: ACCEPTED })).toMatchObject({
      sent: 2_500,
      batches: 3,
    })
    expect(uploads).toEqual([`b1.2 ${THIRD}`])
  })

  test('of which everything had been sent is completed without a request to start or upload', async () => {
    const { catalogueImports, uploads, started } = platformWith({ status: 'Completed' })
    expect(await send(2_000, { catalogueImports, accepted: ACCEPTED })).toMatchObject({ sent: 2_000 })
    expect({ uploads, started }).toEqual({ uploads: [], started: [] })
  })

  test.each([
    ['has failed', { status: 'Failed' }, 'b1.2'],
    ['has lost items', { status: 'Started', itemsReceived: 1_999 }, 'b1'],
    ['has completed without some items', { status: 'Completed', itemsProcessed: 1_990 }, 'b1.2'],
  ])('that %s on the platform is sent from the beginning', async (_name, state, batchId) => {
    const { catalogueImports, uploads } = platformWith(state)
    expect(await send(2_500, { catalogueImports, accepted: ACCEPTED })).toMatchObject({
      sent: 2_500,
      batches: 3,
    })
    expect(uploads).toEqual([0, 1_000, 2_000].map((row) => `${batchId} ${itemOf(row).code}`))
  })

  test('saves its progress after each batch, before it sends the next one', async () => {
    const events: string[] = []
    const uploadItems = async () => void events.push('sent')
    const save = async ({ batches }: Progress) => void events.push(`saved ${batches}`)
    await send(3_000, { catalogueImports: { ...ACCEPTING, uploadItems }, save })
    expect(events).toEqual(['sent', 'saved 1', 'sent', 'saved 2', 'sent', 'saved 3'])
  })

  test('keeps retrying while the store is unavailable', async () => {
    let failures = 1
    const save = async () => {
      if (failures-- > 0) throw new StoreUnavailableError('down')
    }
    expect(await send(2_000, { save })).toMatchObject({ sent: 2_000 })
  })
})

describe('a stopped import', () => {
  test('ends between two requests', async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const importing = send(50_000, {
      signal: stop.signal,
      onProgress: ({ batches }) => batches === 3 && stop.abort(reason),
    })
    await expect(importing).rejects.toBe(reason)
    await vi.waitFor(async () => expect((await items()).size).toBeLessThan(20_000), {
      timeout: 5_000,
    })
  })

  test('ends at once while it waits for the delay that the platform requested', async () => {
    await platform().fault('items', '429', undefined, 3600)
    const stop = new AbortController()
    const importing = send(3_000, {
      signal: stop.signal,
      retryTimeoutMs: 10_000_000,
      onProgress: ({ waiting }) => waiting && stop.abort(new Error('stopped')),
    })
    await expect(importing).rejects.toThrow('stopped')
  })
})

test('a check that is stopped ends its process', async () => {
  const path = platform().write(priceFile(200_000))
  const stop = new AbortController()
  let stoppedAt = 0
  const checking = checkFile({ path }, { signal: stop.signal })
  void setTimeout(150).then(() => {
    stoppedAt = performance.now()
    stop.abort(new Error('stopped'))
  })
  await expect(checking).rejects.toThrow('stopped')
  expect(performance.now() - stoppedAt).toBeLessThan(1_500)
})
