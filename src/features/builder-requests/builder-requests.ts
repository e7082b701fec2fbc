import * as z from 'zod'
import type { Api } from '../../connect/platform/api.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import { BUILDER_REQUESTS_SCOPE, type BuilderRequest, builderRequestSchema, PATHS } from './contract.ts'

/**
 * Builders who ask this supplier to connect: the platform's "incoming integration connections" (specification 3
 * and 4.4). The platform accepts a request with the ExternalRef of a pre-approved access control without listing it.
 */
export interface BuilderRequests {
  /** The pending requests, as the platform orders them. */
  list(source: TokenSource): Promise<BuilderRequest[]>
  /** Throws `NotFoundError` for a request that is no longer pending. */
  accept(source: TokenSource, integrationConnectionId: string): Promise<void>
  /** Throws `NotFoundError` for a request that is no longer pending. */
  reject(source: TokenSource, integrationConnectionId: string): Promise<void>
}

const listCall = { scope: BUILDER_REQUESTS_SCOPE, path: PATHS.list, schema: z.array(builderRequestSchema) }
const requestCall = { scope: BUILDER_REQUESTS_SCOPE, resource: 'builder request' }

/** The builder requests API. Every method throws what `createApi` says. */
export function createBuilderRequests(api: Api): BuilderRequests {
  return {
    list: (source) => api.get(source, listCall),
    accept: (source, id) => api.post(source, { ...requestCall, path: PATHS.accept(id) }, {}),
    reject: (source, id) => api.post(source, { ...requestCall, path: PATHS.reject(id) }, {}),
  }
}
