import * as z from 'zod'
import type { Api, Page, PageOf } from '../../connect/platform/api.ts'
import {
  batchIdSchema,
  type Catalogue,
  catalogueSchema,
  type ImportJob,
  type Item,
  importJobSchema,
  itemsBody,
  MAX_BATCH,
  type NewCatalogue,
  newCatalogueSchema,
  PATHS,
  SCOPES,
} from '../../connect/platform/contract.ts'
import { PlatformRejectedError } from '../../connect/platform/errors.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'

export interface Catalogues {
  /** A page of the account's catalogues. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Catalogue>>
  /** One catalogue by its id. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Catalogue>
  /** Creates a catalogue (specification 4.4). Throws a `ZodError` for a bad one, before any call. */
  create(source: TokenSource, catalogue: NewCatalogue): Promise<Catalogue>
  /**
   * Starts the import job of this batch id, or finds it when the platform knows the id already, and resolves to its
   * state. Safe to repeat. Throws `NotFoundError` for the catalogue, a `ZodError` for a bad id, before any call.
   */
  startImport(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
  /**
   * Uploads or updates at most 1000 items: themselves, or as the body that `itemsBody` makes of them. Items are upserts,
   * so a repeat changes nothing.
   */
  uploadItems(
    source: TokenSource,
    catalogueId: string,
    batchId: string,
    items: readonly Item[] | Uint8Array,
  ): Promise<void>
  /** The state of an import job. Throws `NotFoundError`. */
  getImport(source: TokenSource, catalogueId: string, batchId: string): Promise<ImportJob>
}

const one = { scope: SCOPES.catalogues, what: 'catalogue', schema: catalogueSchema }
const many = { scope: SCOPES.catalogues, schema: z.array(catalogueSchema) }
const job = { scope: SCOPES.catalogues, what: 'import', schema: importJobSchema }
const done = { scope: SCOPES.catalogues, what: 'import' }

/** The catalogues API. Every method throws what `createApi` says. */
export function createCatalogues(api: Api): Catalogues {
  const getImport: Catalogues['getImport'] = (source, catalogueId, batchId) =>
    api.get(source, { ...job, path: PATHS.import(catalogueId, batchId) })

  return {
    getImport,
    list: (source, page = {}) => api.list(source, { ...many, path: PATHS.catalogues }, page),
    get: (source, id) => api.get(source, { ...one, path: PATHS.catalogue(id) }),
    create: async (source, catalogue) =>
      api.post(source, { ...one, path: PATHS.catalogues }, newCatalogueSchema.parse(catalogue)),

    async startImport(source, catalogueId, batchId) {
      batchIdSchema.parse(batchId)
      const call = { scope: SCOPES.catalogues, what: 'catalogue', path: PATHS.startImport(catalogueId) }
      try {
        await api.post(source, call, { batchId })
      } catch (error) {
        // How the platform refuses an id that it knows is not shown: whether it knows it decides.
        if (!(error instanceof PlatformRejectedError)) throw error
        return await getImport(source, catalogueId, batchId).catch(() => {
          throw error
        })
      }
      return { batchId, status: 'Started' }
    },

    async uploadItems(source, catalogueId, batchId, items) {
      if (!(items instanceof Uint8Array) && items.length > MAX_BATCH)
        throw new RangeError(`a batch holds at most ${MAX_BATCH} items`)
      const body = items instanceof Uint8Array ? items : itemsBody(items)
      const path = PATHS.importItems(catalogueId, batchId)
      await api.post(source, { ...done, path, upload: true }, { json: body })
    },
  }
}
