import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  InsufficientScopeError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../../src/connect/platform/errors.ts'
import { createRateLimiter } from '../../../src/connect/platform/rate-limiter.ts'
import { batchesOf } from '../../../src/features/price-files/batches.ts'
import { openPriceFile } from '../../../src/features/price-files/price-file.ts'
import { checkFile } from '../../../src/features/price-files/reader.ts'
import {
  ImportFailedError,
  type ImportOptions,
  type Progress,
  runImport,
} from '../../../src/features/price-files/run.ts'
import { median } from '../../bench/measure.ts'
import {
  itemOf,
  openSupplier,
  priceRows,
  type Supplier,
  type SupplierPlatform,
  startPlatform,
  writePriceFile,
} from './support.ts'

let platform: SupplierPlatform
let supplier: Supplier
let catalogueId: string
beforeEach(async () => {
  platform = await startPlatform()
  supplier = openSupplier(platform.apiUrl, { uploadMs: 600 })
  catalogueId = await supplier.newCatalogue()
})
afterEach(async () => {
  await supplier.close()
  await platform.close()
})

/** Imports so many generated rows. */
async function send(rows: number, options: Partial<ImportOptions> = {}) {
  const file = await openPriceFile(priceRows(rows))
  const { catalogues, source } = supplier
  return runImport({
    ...{ catalogues, source, catalogueId, batchId: 'b1', batches: batchesOf(file.read(file.guess.columns)) },
    ...{ pauseMs: 20, patienceMs: 10_000, ...options },
  })
}
const expected = (rows: number) =>
  new Map(Array.from({ length: rows }, (_, row) => [itemOf(row).code, itemOf(row)]))

test('an import ends with exactly the file’s items in the catalogue, and says how many', async () => {
  const outcome = await send(12_345)
  expect(outcome).toMatchObject({ rows: 12_345, sent: 12_345, batches: 13, rejected: 0 })
  expect(await platform.items(catalogueId)).toEqual(expected(12_345))
})

test('progress tells rows, batches and the platform’s own count as they go', async () => {
  const seen: Progress[] = []
  await send(5_000, { onProgress: (progress) => seen.push({ ...progress }) })
  expect(seen.map(({ phase }) => phase)).toEqual(
    expect.arrayContaining(['starting', 'sending', 'processing']),
  )
  expect(seen.at(-1)).toMatchObject({
    phase: 'processing',
    rows: 5_000,
    sent: 5_000,
    batches: 5,
    processed: 5_000,
  })
})

test('a batch id that the platform knows resumes its job, also when that is completed', async () => {
  await send(2_000)
  expect(await send(3_000)).toMatchObject({ sent: 3_000 })
  expect(await platform.items(catalogueId)).toEqual(expected(3_000))
})

test('a job that has ended takes no more items: its file goes into a new one', async () => {
  for (const status of ['Completed', 'failed']) {
    const ended = new Set(['b1', 'b1.2'])
    const uploaded: string[] = []
    const catalogues: ImportOptions['catalogues'] = {
      startImport: async (_source, _id, batchId) => ({ status: ended.has(batchId) ? status : 'Started' }),
      uploadItems: async (_source, _id, batchId) => {
        if (ended.has(batchId)) throw new PlatformRejectedError('the API answered 409')
        uploaded.push(batchId)
      },
      getImport: async () => ({ status: 'Completed' }),
    }
    expect(await send(1_500, { catalogues })).toMatchObject({ sent: 1_500 })
    expect(uploaded).toEqual(['b1.3', 'b1.3'])
  }
})

test('a platform that takes two seconds for each batch is still used at the limit', async () => {
  const limiter = createRateLimiter(supplier.store, { limit: 20, windowMs: 4_000 })
  const source = { ...supplier.source, pace: () => limiter.acquire('slow') }
  const sent: number[] = []
  const { catalogues } = supplier
  const uploadItems: ImportOptions['catalogues']['uploadItems'] = async () => {
    const done = await source.pace()
    sent.push(performance.now())
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    done()
  }
  const getImport = async () => ({ status: 'Completed' })
  await send(40_000, { catalogues: { ...catalogues, uploadItems, getImport } })
  const cycles = sent.slice(20).map((time, at) => time - (sent[at] ?? 0))
  // Four seconds, and the half second after which a request is taken to have been counted.
  expect(median(cycles)).toBeLessThan(4_800)
})

describe('the platform failing in the middle', () => {
  test.each(['500', '429', 'garbage', 'drop', 'stall', 'expired'])(
    'with %s is tried again, and nothing is missing',
    async (fault) => {
      // Twice refused in a row would be a refusal for good.
      const times = fault === 'expired' ? 1 : 3
      const onProgress = () => void platform.fault('items', fault, times, 1)
      await send(8_000, { onProgress: first(onProgress, 'sending') })
      expect(await platform.items(catalogueId)).toEqual(expected(8_000))
    },
  )

  test('without end is reported once patience has ended', async () => {
    await platform.fault('items', '500')
    await expect(send(3_000, { patienceMs: 300 })).rejects.toBeInstanceOf(PlatformUnavailableError)
  })

  test('while it is polled is tried again', async () => {
    const onProgress = ({ phase }: Progress) => {
      if (phase === 'processing') void platform.fault('catalogues', '500', 4)
    }
    expect(await send(1_000, { onProgress: first(onProgress, 'processing') })).toMatchObject({ sent: 1_000 })
  })

  test('with Failed at the end is a failure, in the platform’s words', async () => {
    await platform.fault('import', 'failed', 1)
    const error = await send(1_000).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ImportFailedError)
    expect((error as Error).message).toContain('stopped by an internal fault of the platform')
  })

  test('with a completed import that lacks items is a failure', async () => {
    const { catalogues, source } = supplier
    const short: ImportOptions['catalogues'] = {
      ...catalogues,
      // The platform takes a batch, and loses it.
      uploadItems: async (source, id, batch, items) =>
        catalogues.uploadItems(source, id, batch, fewer(items as Uint8Array)),
    }
    const file = await openPriceFile(priceRows(2_000))
    const error = await runImport({
      ...{
        catalogues: short,
        source,
        catalogueId,
        batchId: 'b1',
        batches: batchesOf(file.read(file.guess.columns)),
        pauseMs: 20,
      },
    }).catch((error: unknown) => error)
    expect((error as Error).message).toContain('with 1998 of the 2000 items')
  })

  test('with a completed import that did not process all items is a failure, in its words', async () => {
    const job = {
      status: 'Completed',
      itemsReceived: 1000,
      itemsProcessed: 900,
      message: '100 of an unknown unit',
    }
    const importing = send(1_000, { catalogues: { ...supplier.catalogues, getImport: async () => job } })
    await expect(importing).rejects.toThrow(
      'with 900 of the 1000 items that were sent: 100 of an unknown unit',
    )
  })

  test('with an import that never ends is a failure after the given time', async () => {
    const getImport = async () => ({ status: 'Processing' })
    const { catalogues, source } = supplier
    const file = await openPriceFile(priceRows(10))
    const importing = runImport({
      ...{
        catalogues: { ...catalogues, getImport },
        source,
        catalogueId,
        batchId: 'b1',
        pauseMs: 20,
        completionMs: 200,
      },
      batches: batchesOf(file.read(file.guess.columns)),
    })
    await expect(importing).rejects.toThrow('still processing')
  })

  test.each(['COMPLETED', 'completed', 'Completed'])('the final status may be written %s', async (status) => {
    const { catalogues, source } = supplier
    const file = await openPriceFile(priceRows(10))
    const outcome = await runImport({
      ...{
        catalogues: { ...catalogues, getImport: async () => ({ status }) },
        source,
        catalogueId,
        batchId: 'b1',
      },
      ...{ batches: batchesOf(file.read(file.guess.columns)), pauseMs: 20 },
    })
    expect(outcome.sent).toBe(10)
  })
})

test('a permission that is missing ends the import at once, and it is not repeated', async () => {
  await platform.fault('items', 'forbidden')
  await expect(send(20_000)).rejects.toBeInstanceOf(InsufficientScopeError)
  const uploads = (await platform.calls()).filter(({ endpoint }) => endpoint === 'items')
  expect(uploads.length).toBeLessThanOrEqual(12)
})

test('a refused batch ends the import, and is not silently left out', async () => {
  const { catalogues, source } = supplier
  const batches = batchesOf(
    (async function* () {
      yield {
        items: [
          { code: 'A', price: 1 },
          { code: '', price: 1 },
        ],
        problems: [],
      }
    })(),
  )
  await expect(runImport({ catalogues, source, catalogueId, batchId: 'b1', batches })).rejects.toBeInstanceOf(
    PlatformRejectedError,
  )
})

test('a stop ends the import between two requests', async () => {
  const stop = new AbortController()
  const reason = new Error('stopped')
  const importing = send(50_000, {
    signal: stop.signal,
    onProgress: ({ batches }) => batches === 3 && stop.abort(reason),
  })
  await expect(importing).rejects.toBe(reason)
  await vi.waitFor(async () => expect((await platform.items(catalogueId)).size).toBeLessThan(20_000))
})

test.each([
  [
    'waits for the time that the platform asked for',
    async () => platform.fault('items', '429', undefined, 3600),
    undefined,
  ],
  ['waits for a permit', async () => {}, () => new Promise<never>(() => {})],
])('a stop ends an import at once that %s', async (_name, arrange, pace) => {
  await arrange()
  const stop = new AbortController()
  const source = { ...supplier.source, ...(pace && { pace }) }
  const importing = send(3_000, { source, signal: stop.signal, patienceMs: 10_000_000 }).catch(
    (error: unknown) => error,
  )
  await new Promise((resolve) => setTimeout(resolve, 300))
  const started = performance.now()
  stop.abort(new Error('stopped'))
  expect(await importing).toEqual(new Error('stopped'))
  expect(performance.now() - started).toBeLessThan(1_500)
})

test('a batch that is refused for good ends the others, which are waiting to be repeated', async () => {
  const { catalogues } = supplier
  let calls = 0
  const uploadItems: ImportOptions['catalogues']['uploadItems'] = async () => {
    if (++calls === 2) throw new PlatformRejectedError('no')
    throw new PlatformUnavailableError('busy', 'busy', 60_000)
  }
  const started = performance.now()
  const importing = send(10_000, { catalogues: { ...catalogues, uploadItems }, patienceMs: 10_000_000 })
  await expect(importing).rejects.toThrow(PlatformRejectedError)
  expect(performance.now() - started).toBeLessThan(2_000)
})

test('a check or an import that is stopped ends its thread', async () => {
  const path = await writePriceFile(platform.dir, 200_000)
  const stop = new AbortController()
  const checking = checkFile(path, { onProblem: () => {}, signal: stop.signal })
  setTimeout(() => stop.abort(new Error('stopped')), 400)
  const started = performance.now()
  await expect(checking).rejects.toThrow('stopped')
  expect(performance.now() - started).toBeLessThan(1_500)
})

test('a file that turns out to be unreadable ends the import with its line', async () => {
  const broken = async function* () {
    yield* priceRows(3_000)
    yield Buffer.from([0xff])
  }
  const file = await openPriceFile(broken())
  const { catalogues, source } = supplier
  const batches = batchesOf(file.read(file.guess.columns))
  await expect(runImport({ catalogues, source, catalogueId, batchId: 'b1', batches })).rejects.toThrow(
    'Line 3002',
  )
})

/** Passes on only the first progress of a phase. */
function first(onProgress: (progress: Progress) => void, phase: Progress['phase']) {
  let told = false
  return (progress: Progress) => {
    if (told || progress.phase !== phase) return
    told = true
    onProgress(progress)
  }
}

/** A body without its first item. */
function fewer(body: Uint8Array): Uint8Array {
  const { items } = JSON.parse(new TextDecoder().decode(body))
  return new TextEncoder().encode(JSON.stringify({ items: items.slice(1) }))
}
