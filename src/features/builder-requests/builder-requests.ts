import * as z from 'zod'
import type { Api } from '../../connect/platform/api.ts'
import { type BuilderRequest, builderRequestSchema, PATHS, SCOPES } from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'

/**
 * Builders who ask this supplier to connect: the platform's "incoming integration connections" (specification 3
 * and 4.4). One that carries the ExternalRef of a pre-approved access control is accepted by the platform itself and
 * never listed here.
 */
export interface BuilderRequests {
  /** The pending requests, as the platform orders them. */
  list(source: TokenSource): Promise<BuilderRequest[]>
  /** Throws `NotFoundError` for a request that is not pending any more. */
  accept(source: TokenSource, integrationConnectionId: string): Promise<void>
  /** Throws `NotFoundError` for a request that is not pending any more. */
  reject(source: TokenSource, integrationConnectionId: string): Promise<void>
}

const pending = { scope: SCOPES.catalogues, schema: z.array(builderRequestSchema) }
const one = { scope: SCOPES.catalogues, what: 'builder request' }

/** The builder requests API. Every method throws what `createApi` says. */
export function createBuilderRequests(api: Api): BuilderRequests {
  return {
    list: (source) => api.get(source, { ...pending, path: PATHS.builderRequests }),
    accept: (source, id) => api.post(source, { ...one, path: PATHS.acceptBuilderRequest(id) }, {}),
    reject: (source, id) => api.post(source, { ...one, path: PATHS.rejectBuilderRequest(id) }, {}),
  }
}
