import { PlatformRejectedError } from '../../connect/errors.ts'
import type { Api, TokenSource } from '../../connect/index.ts'
import { CATALOGUES_SCOPE } from '../catalogues/contract.ts'
import { texts as catalogueTexts } from '../catalogues/texts.ts'
import {
  batchIdSchema,
  type ImportJob,
  type Item,
  importJobSchema,
  itemsBody,
  MAX_BATCH,
  PATHS,
} from './contract.ts'
import { type Rejected, rejectedIn } from './rejected-items.ts'
import { texts } from './texts.ts'

export interface CatalogueImports {
  /**
   * Starts an import job, or finds the existing one with this batch id, and resolves to its state. Safe to repeat.
   * Throws `NotFoundError` if the catalogue does not exist, and a `ZodError`, before any call, if the id is invalid.
   */
  start(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
  /**
   * Creates or updates at most 1,000 items, given as items or as a body serialized by `itemsBody`. Idempotent. Resolves to
   * the items that the platform lists as rejected. Throws a `RangeError` for more than 1,000 items.
   */
  uploadItems(
    source: TokenSource,
    catalogueId: string,
    batchId: string,
    items: readonly Item[] | Uint8Array,
    // biome-ignore lint/suspicious/noConfusingVoidType: an implementation that hears of none resolves to nothing
  ): Promise<Rejected | void>
  /** Returns the state of an import job. Throws `NotFoundError`. */
  get(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
}

const importCall = { scope: CATALOGUES_SCOPE, notFound: texts.importNotFound }

/** The catalogue imports API (specification 4.4). Every method also throws the errors documented on `createApi`. */
export function createCatalogueImports(api: Api): CatalogueImports {
  const get: CatalogueImports['get'] = (source, catalogueId, batchId) =>
    api.get(source, { ...importCall, schema: importJobSchema, path: PATHS.import(catalogueId, batchId) })

  return {
    get,

    async start(source, catalogueId, batchId) {
      batchIdSchema.parse(batchId)
      const call = {
        scope: CATALOGUES_SCOPE,
        notFound: catalogueTexts.notFound,
        path: PATHS.start(catalogueId),
      }
      try {
        await api.post(source, call, { batchId })
      } catch (error) {
        // The specification doesn't define the error for an existing batch id, so check whether the job exists.
        if (!(error instanceof PlatformRejectedError)) throw error
        return await get(source, catalogueId, batchId).catch(() => {
          throw error
        })
      }
      return { batchId, status: 'Started' }
    },

    async uploadItems(source, catalogueId, batchId, items) {
      if (!(items instanceof Uint8Array) && items.length > MAX_BATCH)
        throw new RangeError(`a batch holds at most ${MAX_BATCH} items`)
      const body = items instanceof Uint8Array ? items : itemsBody(items)
      const path = PATHS.items(catalogueId, batchId)
      return rejectedIn(await api.post(source, { ...importCall, path, upload: true }, { json: body }))
    },
  }
}
