import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { InsufficientScopeError, PlatformUnavailableError } from '../../../src/connect/errors.ts'
import { ImportFailedError } from '../../../src/features/price-files/errors.ts'
import type { Progress } from '../../../src/features/price-files/import.ts'
import type { ImportOptions } from '../../../src/features/price-files/run.ts'
import {
  importRows,
  itemsOfRows,
  openSupplier,
  type Supplier,
  type SupplierPlatform,
  startPlatform,
} from './support.ts'

let platform: SupplierPlatform
let supplier: Supplier
let catalogueId: string
beforeEach(async () => {
  platform = await startPlatform()
  // Shorter than in production, for the fault that stalls.
  supplier = openSupplier(platform.apiUrl, { uploadMs: 600 })
  catalogueId = await supplier.newCatalogue()
})
afterEach(async () => {
  await supplier.close()
  await platform.close()
})

const send = (rows: number, options?: Partial<ImportOptions>) =>
  importRows(supplier, catalogueId, rows, options)
/** The platform's imports API, apart from what a test replaces. */
const platformWith = (replaced: Partial<ImportOptions['catalogueImports']>) => ({
  catalogueImports: { ...supplier.catalogueImports, ...replaced },
})

describe('a platform that fails in the middle', () => {
  test.each(['500', '429', 'garbage', 'drop', 'stall', 'expired'])(
    'with %s is asked again, and no item is missing',
    async (fault) => {
      // A second 401 in a row would be final.
      const times = fault === 'expired' ? 1 : 3
      const onProgress = () => void platform.fault('items', fault, times, 1)
      await send(4_000, { onProgress: first(onProgress, 'sending') })
      expect(await platform.items(catalogueId)).toEqual(itemsOfRows(4_000))
    },
  )

  test('without end is reported when retrying has timed out', async () => {
    await platform.fault('items', '500')
    await expect(send(3_000, { retryTimeoutMs: 300 })).rejects.toBeInstanceOf(PlatformUnavailableError)
  })

  test('while it is polled is polled again', async () => {
    const onProgress = ({ phase }: Progress) => {
      if (phase === 'processing') void platform.fault('catalogues', '500', 4)
    }
    expect(await send(1_000, { onProgress: first(onProgress, 'processing') })).toMatchObject({ sent: 1_000 })
  })
})

describe('an import that the platform does not complete', () => {
  test('is reported with the platform’s message', async () => {
    await platform.fault('import', 'failed', 1)
    const error = await send(1_000).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ImportFailedError)
    expect((error as Error).message).toContain('stopped by an internal fault of the platform')
  })

  test('because items were lost is a failure that counts them', async () => {
    const { uploadItems } = supplier.catalogueImports
    const losing = platformWith({
      uploadItems: async (source, id, batch, items) =>
        uploadItems(source, id, batch, withoutFirst(items as Uint8Array)),
    })
    await expect(send(2_000, losing)).rejects.toThrow('with 1998 of the 2000 items')
  })

  test('because it did not process all items is a failure, with its message', async () => {
    const job = {
      status: 'Completed',
      itemsReceived: 1000,
      itemsProcessed: 900,
      message: '100 of an unknown unit',
    }
    await expect(send(1_000, platformWith({ get: async () => job }))).rejects.toThrow(
      'with 900 of the 1000 items that were sent: 100 of an unknown unit',
    )
  })

  test('in the given time is a failure that says so', async () => {
    const processing = platformWith({ get: async () => ({ status: 'Processing' }) })
    await expect(send(10, { ...processing, completionTimeoutMs: 200 })).rejects.toThrow('still processing')
  })
})

describe('a rejection', () => {
  test('for a missing permission ends the import at once, and is not repeated', async () => {
    await platform.fault('items', 'forbidden')
    await expect(send(20_000)).rejects.toBeInstanceOf(InsufficientScopeError)
    expect((await platform.statusesOf('items')).length).toBeLessThanOrEqual(12)
  })

  test('of a batch ends the import: no batch is left out silently', async () => {
    const items = [
      { code: 'A', price: 1 },
      { code: '', price: 1 },
    ]
    const bodyOf = async () => Buffer.from(JSON.stringify({ items }))
    await expect(send(2, { bodyOf })).rejects.toThrow('begins with item 1 and said: error: invalid_item')
  })
})

/** Passes on only the first progress of a phase. */
function first(onProgress: (progress: Progress) => void, phase: Progress['phase']) {
  let called = false
  return (progress: Progress) => {
    if (called || progress.phase !== phase) return
    called = true
    onProgress(progress)
  }
}

/** A body without its first item. */
function withoutFirst(body: Uint8Array): Uint8Array {
  const { items } = JSON.parse(new TextDecoder().decode(body))
  return new TextEncoder().encode(JSON.stringify({ items: items.slice(1) }))
}
