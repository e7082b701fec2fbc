import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { PlatformUnavailableError, StoreUnavailableError } from '../../../../../src/connect/errors.ts'
import { platform as contract, createApi, createHttp } from '../../../../../src/connect/index.ts'
import { firstCode } from '../../../../../src/features/supplier/price-files/batches.ts'
import {
  type CatalogueImports,
  createCatalogueImports,
} from '../../../../../src/features/supplier/price-files/catalogue-imports.ts'
import { type ImportJob, importJobSchema } from '../../../../../src/features/supplier/price-files/contract.ts'
import { NOTHING_SENT, type Progress } from '../../../../../src/features/supplier/price-files/import.ts'
import { serve } from '../../../../support/ports.ts'
import { itemOf, itemsOfRows, supplierOfEachTest } from '../support.ts'
import { ACCEPTING, ALL, SOURCE } from './service-support.ts'

const { items, send } = supplierOfEachTest()

/** A platform that has an import `old` in this state, and completes any other. Records each upload with its import and first row. */
function platformWith(state: ImportJob) {
  const uploads: string[] = []
  const started: string[] = []
  const catalogueImports: CatalogueImports = {
    start: async (_source, _id, batchId) => void started.push(batchId),
    uploadItems: async (_source, _id, batchId, body) => {
      uploads.push(`${batchId} ${Number(firstCode(body).slice('ITEM-'.length))}`)
      return ALL
    },
    get: async (_source, _id, batchId) =>
      batchId === 'old' && uploads.length === 0 ? state : { status: 'Completed' },
  }
  return { catalogueImports, uploads, started }
}

describe('an import', () => {
  test('ends with exactly the file’s items in the catalogue, and reports items, batches and the platform’s own count while it runs', async () => {
    const seen: Progress[] = []
    const outcome = await send(4_345, { onProgress: (progress) => seen.push({ ...progress }) })
    expect(outcome).toBeNull()
    expect(await items()).toEqual(itemsOfRows(4_345))
    const phases = new Set(seen.map(({ phase }) => phase))
    expect([...phases]).toEqual(['starting', 'sending', 'processing'])
    expect(seen.at(-1)).toMatchObject({ sent: 4_345, batches: 5, processed: 4_345 })
  })

  test('sends no other batch while the platform says that it accepts no more for now', async () => {
    const sent: string[] = []
    const uploadItems: CatalogueImports['uploadItems'] = async (_source, _id, _batch, body) => {
      sent.push(firstCode(body))
      if (sent.length === 1) throw new PlatformUnavailableError('busy', 'the API answered 429', 600)
      return ALL
    }
    await send(2_000, { catalogueImports: { ...ACCEPTING, uploadItems } })
    expect(sent).toEqual([0, 0, 1_000].map((row) => itemOf(row).code))
  })
})

describe('an interrupted import', () => {
  const BATCHES = [0, 1_000, 2_000]
  const accepted = { ...NOTHING_SENT, batchId: 'old', importSent: 2_000, sent: 2_000, batches: 2 }

  test.each<[string, ImportJob, string, number[]]>([
    ['goes on after the last accepted batch', { status: 'Started', itemsReceived: 2_000 }, 'old', [2_000]],
    ['goes on in a new import if the old one is completed', { status: 'Completed' }, 'b1', [2_000]],
    ['is sent from its beginning if it has failed', { status: 'Failed' }, 'b1', BATCHES],
    [
      'is sent from its beginning if items were lost',
      { status: 'Started', itemsReceived: 1_999 },
      'b1',
      BATCHES,
    ],
    [
      'is sent from its beginning if it was completed without some items',
      { status: 'Completed', itemsProcessed: 1_990 },
      'b1',
      BATCHES,
    ],
  ])('%s', async (_name, state, batchId, rows) => {
    const { catalogueImports, uploads } = platformWith(state)
    expect(await send(2_500, { catalogueImports, accepted })).toBeNull()
    expect(uploads).toEqual(rows.map((row) => `${batchId} ${row}`))
  })

  test('of which everything had been sent is completed without a request to start or upload', async () => {
    const { catalogueImports, uploads, started } = platformWith({ status: 'Completed' })
    expect(await send(2_000, { catalogueImports, accepted })).toBeNull()
    expect({ uploads, started }).toEqual({ uploads: [], started: [] })
  })

  test('saves its progress after each batch, before it sends the next one', async () => {
    const events: string[] = []
    const uploadItems = async () => {
      events.push('sent')
      return ALL
    }
    const save = async ({ batches }: Progress) => {
      await setImmediate()
      events.push(`saved ${batches}`)
    }
    await send(3_000, { catalogueImports: { ...ACCEPTING, uploadItems }, save })
    expect(events).toEqual(['sent', 'saved 1', 'sent', 'saved 2', 'sent', 'saved 3'])
  })

  test('keeps retrying while the store is unavailable', async () => {
    let failures = 1
    const save = async () => {
      if (failures-- > 0) throw new StoreUnavailableError('down')
    }
    expect(await send(2_000, { save })).toBeNull()
  })
})

describe('what the platform says of an import', () => {
  const MORE = 'y'.repeat(500)
  /** How an import ends of which the platform first says `answers`, and then that it is completed. */
  const ending = async (...answers: Record<string, unknown>[]) => {
    const seen: (string | null)[] = []
    const get = async () => importJobSchema.parse(answers.shift() ?? { status: 'Completed' })
    const onProgress = ({ platformState }: Progress) => seen.push(platformState)
    const result = await send(2, { catalogueImports: { ...ACCEPTING, get }, onProgress }).catch(
      (error: Error) => error.message,
    )
    return { seen, result }
  }

  test.each([
    [{ status: 'COMPLETE' }, null],
    [{ status: 'Completed', itemsReceived: '2', itemsProcessed: '2', itemsFailed: '0', errors: [] }, null],
    [{ status: 'CompletedWithErrors', message: '1 unknown unit' }, 'CompletedWithErrors: 1 unknown unit'],
    [{ status: 'completed', failedRows: '3' }, 'problems: completed'],
    [{ status: 'Completed', errors: [{ row: 1 }] }, 'problems: Completed'],
    [
      { status: 'Completed', itemsProcessed: '1', message: 'no unit' },
      'with 1 of the 2 items that were sent. no unit',
    ],
    [{ status: 'Completed', itemsReceived: 1 }, 'with 1 of the 2 items'],
    [{ status: 'Failed', message: 'no space' }, 'could not complete the import: Failed: no space'],
    [{ status: 'Cancelled' }, 'Cancelled'],
    [{ status: 'rejected by the owner' }, 'rejected by the owner'],
    [{ status: 'InternalError' }, 'InternalError'],
  ])('%j ends it', async (job, words) => {
    const { result } = await ending(job)
    if (words === null) expect(result).toBeNull()
    else expect(result).toContain(words)
  })

  test.each(['Succeeded', 'Done', 'Incomplete', 'Processing'])(
    '%s is shown, and asked again',
    async (status) => {
      const { seen, result } = await ending({ status })
      expect(seen).toContain(status)
      expect(seen.at(-1)).toBe('Completed')
      expect(result).toBeNull()
    },
  )

  test.each<[string, (token: string) => string, string]>([
    [
      'JSON',
      (token) => JSON.stringify({ done: true, token, said: `${token} ${MORE}` }),
      '{"done":true,"said":"Bearer … y',
    ],
    // It may be that of a proxy, so that the platform is asked again for a while.
    ['a text', (token) => `Done, ${token}\n${MORE}`, 'Done, Bearer … y'],
  ])(
    'is shown by its first 200 characters, without the token, if %s is not understood',
    async (_name, bodyFor, start) => {
      const server = await serve((req, res) => res.end(bodyFor(req.resume().headers.authorization ?? '')))
      const http = createHttp()
      const api = createApi({ platform: contract, baseUrl: `http://127.0.0.1:${server.port}`, http })
      const stop = new AbortController()
      let waiting = ''
      const message = await send(1, {
        catalogueImports: createCatalogueImports(api),
        source: { ...SOURCE, accessToken: async () => 'secret-token' },
        signal: stop.signal,
        onProgress: (progress) => {
          waiting ||= progress.waiting ?? ''
          if (waiting) stop.abort()
        },
      }).catch((error: Error) => waiting || error.message)
      const [, said = ''] = / is not understood\. It begins: (.*?y)(?!y)/.exec(String(message)) ?? []
      expect(said.startsWith(start)).toBe(true)
      expect(said).toHaveLength(200)
      await http.close()
      await server.close()
    },
  )
})
