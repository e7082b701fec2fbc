import * as z from 'zod'
import type { Api, TokenSource } from '../../../connect/index.ts'
import { BUILDER_REQUESTS_SCOPE, builderRequestSchema, PATHS } from './contract.ts'
import { texts } from './texts.ts'

const listCall = { scope: BUILDER_REQUESTS_SCOPE, path: PATHS.list, schema: z.array(builderRequestSchema) }
const requestCall = { scope: BUILDER_REQUESTS_SCOPE, notFound: texts.notFound, schema: z.unknown() }

export type BuilderRequests = ReturnType<typeof createBuilderRequests>

/**
 * Requests of builders to connect with this supplier: the platform's "incoming integration connections" (specification
 * 3 and 4.4). Requests with the ExternalRef of a pre-approved access control are accepted automatically and not listed.
 * Every method also throws the errors documented on `createApi`.
 */
export const createBuilderRequests = (api: Api) => ({
  /** Lists the pending requests, in the platform's order. */
  list: (source: TokenSource) => api.get(source, listCall),
  /** Throws `NotFoundError` if the request is no longer pending. */
  accept: (source: TokenSource, id: string): Promise<unknown> =>
    api.post(source, { ...requestCall, path: PATHS.accept(id) }, {}),
  /** Throws `NotFoundError` if the request is no longer pending. */
  reject: (source: TokenSource, id: string): Promise<unknown> =>
    api.post(source, { ...requestCall, path: PATHS.reject(id) }, {}),
})
