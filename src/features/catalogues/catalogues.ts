import * as z from 'zod'
import type { Api, Page, TokenSource } from '../../connect/index.ts'
import { appOwner, type Key } from '../../connect/stores.ts'
import {
  type AccessControl,
  accessControlSchema,
  CATALOGUES_SCOPE,
  catalogueSchema,
  type NewCatalogue,
  newCatalogueSchema,
  PATHS,
} from './contract.ts'
import { texts } from './texts.ts'

const catalogueCall = { scope: CATALOGUES_SCOPE, notFound: texts.notFound, schema: catalogueSchema }
const listCall = { scope: CATALOGUES_SCOPE, path: PATHS.catalogues, schema: z.array(catalogueSchema) }

/** The key of a note that this app created the catalogue, so that all of its items come from this app. */
export const createdKey = (apiUrl: string, id: string): Key => ({
  kind: 'created-catalogue',
  owner: appOwner(apiUrl),
  id,
})

export type Catalogues = ReturnType<typeof createCatalogues>

/** The catalogues API. Every method also throws the errors documented on `createApi`. */
export const createCatalogues = (api: Api) => ({
  /** Resolves to a page of the account's catalogues. */
  list: (source: TokenSource, page: Page = {}) => api.list(source, listCall, page),
  /** Throws `NotFoundError`. */
  get: (source: TokenSource, id: string) => api.get(source, { ...catalogueCall, path: PATHS.catalogue(id) }),
  /** Creates a catalogue (specification 4.4). Throws a `ZodError`, before any call, if it is invalid. */
  create: async (source: TokenSource, catalogue: NewCatalogue) =>
    api.post(source, { ...catalogueCall, path: PATHS.catalogues }, newCatalogueSchema.parse(catalogue)),
  /**
   * Gives the builder with this ExternalRef access to a Managed catalogue (specification 2.5 and 4.4). `isPreApproved`
   * also accepts a later connection request of that builder. Throws a `ZodError`, before any call, if the ExternalRef
   * is not 1 to 255 letters and digits.
   */
  grantAccess: async (source: TokenSource, id: string, accessControl: AccessControl): Promise<void> => {
    const call = { ...catalogueCall, schema: z.unknown(), path: PATHS.accessControls(id) }
    await api.post(source, call, accessControlSchema.parse(accessControl))
  },
})
