import * as z from 'zod'
import type { Api, Page, PageOf, TokenSource } from '../../connect/index.ts'
import {
  type AccessControl,
  accessControlSchema,
  CATALOGUES_SCOPE,
  type Catalogue,
  catalogueSchema,
  type NewCatalogue,
  newCatalogueSchema,
  PATHS,
} from './contract.ts'
import { texts } from './texts.ts'

export interface Catalogues {
  /** Returns a page of the account's catalogues. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Catalogue>>
  /** Returns a catalogue. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Catalogue>
  /** Creates a catalogue (specification 4.4). Throws a `ZodError`, before any call, if it is invalid. */
  create(source: TokenSource, catalogue: NewCatalogue): Promise<Catalogue>
  /**
   * Gives the builder with this ExternalRef access to a Managed catalogue (specification 2.5 and 4.4). `isPreApproved`
   * also accepts a later connection request of that builder. Throws a `ZodError`, before any call, if the ExternalRef
   * is not 1 to 255 letters and digits.
   */
  grantAccess(source: TokenSource, catalogueId: string, accessControl: AccessControl): Promise<void>
}

const catalogueCall = { scope: CATALOGUES_SCOPE, notFound: texts.notFound, schema: catalogueSchema }
const listCall = { scope: CATALOGUES_SCOPE, path: PATHS.catalogues, schema: z.array(catalogueSchema) }

/** The catalogues API. Every method also throws the errors documented on `createApi`. */
export function createCatalogues(api: Api): Catalogues {
  return {
    list: (source, page = {}) => api.list(source, listCall, page),
    get: (source, id) => api.get(source, { ...catalogueCall, path: PATHS.catalogue(id) }),
    create: async (source, catalogue) =>
      api.post(source, { ...catalogueCall, path: PATHS.catalogues }, newCatalogueSchema.parse(catalogue)),
    grantAccess: async (source, catalogueId, accessControl) => {
      const call = {
        scope: CATALOGUES_SCOPE,
        notFound: texts.notFound,
        path: PATHS.accessControls(catalogueId),
      }
      await api.post(source, call, accessControlSchema.parse(accessControl))
    },
  }
}
