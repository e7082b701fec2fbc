import * as z from 'zod'
import type { Api, TokenSource } from '../../connect/index.ts'
import { BUILDER_REQUESTS_SCOPE, type BuilderRequest, builderRequestSchema, PATHS } from './contract.ts'
import { texts } from './texts.ts'

/**
 * Requests of builders to connect with this supplier: the platform's "incoming integration connections" (specification
 * 3 and 4.4). Requests with the ExternalRef of a pre-approved access control are accepted automatically and not listed.
 */
export interface BuilderRequests {
  /** Lists the pending requests, in the platform's order. */
  list(source: TokenSource): Promise<BuilderRequest[]>
  /** Throws `NotFoundError` if the request is no longer pending. */
  accept(source: TokenSource, integrationConnectionId: string): Promise<void>
  /** Throws `NotFoundError` if the request is no longer pending. */
  reject(source: TokenSource, integrationConnectionId: string): Promise<void>
}

const listCall = { scope: BUILDER_REQUESTS_SCOPE, path: PATHS.list, schema: z.array(builderRequestSchema) }
const requestCall = { scope: BUILDER_REQUESTS_SCOPE, notFound: texts.notFound }

/** The builder requests API. Every method also throws the errors documented on `createApi`. */
export function createBuilderRequests(api: Api): BuilderRequests {
  return {
    list: (source) => api.get(source, listCall),
    accept: (source, id) => api.post(source, { ...requestCall, path: PATHS.accept(id) }, {}),
    reject: (source, id) => api.post(source, { ...requestCall, path: PATHS.reject(id) }, {}),
  }
}
