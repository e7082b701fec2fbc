import type { Api } from '../../connect/platform/api.ts'
import { PlatformRejectedError } from '../../connect/platform/errors.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import { CATALOGUES_SCOPE } from '../catalogues/contract.ts'
import {
  batchIdSchema,
  type ImportJob,
  type Item,
  importJobSchema,
  itemsBody,
  MAX_BATCH,
  PATHS,
} from './contract.ts'

export interface CatalogueImports {
  /**
   * Starts the import job of this batch id, or finds it when the platform knows the id already, and resolves to its
   * state. Safe to repeat. Throws `NotFoundError` for the catalogue, a `ZodError` for a bad id, before any call.
   */
  start(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
  /**
   * Uploads or updates at most 1,000 items: themselves, or the body that `itemsBody` makes of them. Items are upserts, so
   * a repeat changes nothing.
   */
  uploadItems(
    source: TokenSource,
    catalogueId: string,
    batchId: string,
    items: readonly Item[] | Uint8Array,
  ): Promise<void>
  /** The state of an import job. Throws `NotFoundError`. */
  get(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
}

const importCall = { scope: CATALOGUES_SCOPE, resource: 'import' }

/** The catalogue imports API (specification 4.4). Every method throws what `createApi` says. */
export function createCatalogueImports(api: Api): CatalogueImports {
  const get: CatalogueImports['get'] = (source, catalogueId, batchId) =>
    api.get(source, { ...importCall, schema: importJobSchema, path: PATHS.import(catalogueId, batchId) })

  return {
    get,

    async start(source, catalogueId, batchId) {
      batchIdSchema.parse(batchId)
      const call = { scope: CATALOGUES_SCOPE, resource: 'catalogue', path: PATHS.start(catalogueId) }
      try {
        await api.post(source, call, { batchId })
      } catch (error) {
        // The specification does not show how the platform rejects an id that it knows; polling the job tells.
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
      await api.post(source, { ...importCall, path, upload: true }, { json: body })
    },
  }
}
