import * as z from 'zod'
import type { Api, Page, PageOf } from './api.ts'
import { type Catalogue, catalogueSchema, PATHS, SCOPES } from './contract.ts'
import type { TokenSource } from './token-source.ts'

export interface Catalogues {
  /** A page of the account's catalogues. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Catalogue>>
  /** One catalogue by its id. Throws `NotFound`. */
  get(source: TokenSource, id: string): Promise<Catalogue>
}

const one = { scope: SCOPES.catalogues, what: 'catalogue', schema: catalogueSchema }
const many = { scope: SCOPES.catalogues, schema: z.array(catalogueSchema) }

/** The catalogues API. Every method throws what `createApi` says. */
export function createCatalogues(api: Api): Catalogues {
  return {
    list: (source, page = {}) => api.list(source, { ...many, path: PATHS.catalogues }, page),
    get: (source, id) => api.get(source, { ...one, path: PATHS.catalogue(id) }),
  }
}
