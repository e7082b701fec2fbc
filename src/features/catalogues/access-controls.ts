import type { Api } from '../../connect/platform/api.ts'
import { type AccessControl, accessControlSchema, PATHS, SCOPES } from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'

export interface AccessControls {
  /**
   * Lets the builder of this ExternalRef see a Managed catalogue (specification 2.5 and 4.4). `isPreApproved` also
   * accepts that builder's later connection request by itself.
   * Throws a `ZodError` for an ExternalRef that is not 1 to 255 letters and digits, before any call.
   */
  create(source: TokenSource, catalogueId: string, accessControl: AccessControl): Promise<void>
}

/** The access controls API. Every method throws what `createApi` says. */
export function createAccessControls(api: Api): AccessControls {
  return {
    create: async (source, catalogueId, accessControl) => {
      const call = { scope: SCOPES.catalogues, what: 'catalogue', path: PATHS.accessControls(catalogueId) }
      await api.post(source, call, accessControlSchema.parse(accessControl))
    },
  }
}
