/** The platform's first-party access: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import { type Assumption, platform, tokenSchema } from '../../../connect/index.ts'

/** Paths below `{base_url}`: given 4.2. */
export const PATHS = {
  login: '/accounts/auth/login',
  refreshToken: '/accounts/auth/refresh-token',
  tenants: '/accounts/tenants',
} as const

/** given 4.2: the header of every first-party call, login and refresh included. */
export const SUBSCRIPTION_HEADER = 'Ocp-Apim-Subscription-Key'

/**
 * given 4.2: the response to login. assumed: `expiresIn` may be a string or absent, and refresh-token has the same
 * response. `isSuccessful: false` is a rejection, even with a status of 2xx.
 */
export const firstPartyTokensSchema = z.looseObject({
  accessToken: tokenSchema,
  refreshToken: tokenSchema.nullish(),
  expiresIn: platform.tokenResponseSchema.shape.expires_in,
  isSuccessful: z.boolean().nullish(),
})

/** assumed: `GET /accounts/tenants` returns an array of these. */
export const tenantSchema = z.object({ tenantId: z.string().min(1), name: z.string().nullish() })
export type Tenant = z.infer<typeof tenantSchema>

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'first-party-refresh',
    topic: 'The response to refresh-token',
    assumed:
      'The same as for login; `expiresIn` may be a string or absent. 400, 401, 403 or `isSuccessful: false` is a rejection.',
    importance: 2,
    code: 'firstPartyTokensSchema',
    cure: 'Change the schema to the fields that the platform sends.',
  },
  {
    id: 'tenants',
    topic: 'The tenants',
    assumed: 'An array of `{tenantId, name?}`.',
    importance: 2,
    code: 'tenantSchema',
    cure: 'Change the schema to the fields that the platform sends.',
  },
]
