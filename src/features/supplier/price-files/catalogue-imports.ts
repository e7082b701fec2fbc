import * as z from 'zod'
import { PlatformRejectedError } from '../../../connect/errors.ts'
import type { Api, TokenSource } from '../../../connect/index.ts'
import { CATALOGUES_SCOPE } from '../../catalogues/contract.ts'
import { texts as catalogueTexts } from '../../catalogues/texts.ts'
import {
  batchIdSchema,
  type ImportJob,
  importJobSchema,
  PATHS,
  type Rejected,
  rejectedIn,
} from './contract.ts'
import { texts } from './texts.ts'

export type CatalogueImports = ReturnType<typeof createCatalogueImports>

const importCall = { scope: CATALOGUES_SCOPE, notFound: texts.importNotFound, schema: z.unknown() }

/** The catalogue imports API (specification 4.4). Every method also throws the errors documented on `createApi`. */
export function createCatalogueImports(api: Api) {
  /** Returns the state of an import job. Throws `NotFoundError`. */
  const get = (source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob> =>
    api.get(source, { ...importCall, schema: importJobSchema, path: PATHS.import(catalogueId, batchId) })

  return {
    get,

    /**
     * Starts an import job. Safe to repeat. Throws `NotFoundError` if the catalogue does not exist, and a `ZodError`, before any
     * call, if the id is invalid.
     */
    async start(source: TokenSource, catalogueId: string, batchId: string): Promise<void> {
      batchIdSchema.parse(batchId)
      const call = { ...importCall, notFound: catalogueTexts.notFound, path: PATHS.start(catalogueId) }
      try {
        await api.post(source, call, { batchId })
      } catch (error) {
        // The specification doesn't define the error for an existing batch id, so check whether the job exists.
        if (!(error instanceof PlatformRejectedError)) throw error
        await get(source, catalogueId, batchId).catch(() => {
          throw error
        })
      }
    },

    /**
     * Creates or updates at most 1,000 items. `body`: what `itemsBody` makes of them. Safe to repeat. Resolves to the items that the
     * platform lists as rejected. Throws `PlatformRejectedError` if the platform refuses them all.
     */
    async uploadItems(
      source: TokenSource,
      catalogueId: string,
      batchId: string,
      body: Uint8Array,
    ): Promise<Rejected> {
      const path = PATHS.items(catalogueId, batchId)
      return rejectedIn(await api.post(source, { ...importCall, path, upload: true }, body))
    },
  }
}
