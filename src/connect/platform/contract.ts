/**
 * What we know of the platform's OAuth and API: every path, parameter, field and limit that the core uses, and nothing
 * else. Features that add operations have a `contract.ts` of their own. Each entry says "given", with the section of
 * the supplier integration specification, or "assumed", where the specification does not show it; `ASSUMPTIONS` lists
 * the latter. If you have the platform's full documentation, correct these files first; oauth.ts beside this one has the requests.
 *
 * Schemas of what the platform sends are tolerant: they check the fields that we use, and unknown fields pass through.
 * Schemas of what we send are strict.
 */
import * as z from 'zod'

export { ASSUMPTIONS, type Assumption } from './assumptions.ts'

/** given 5.3.2: the page that starts the flow, its parameter, and the one it returns with. */
export const START_PAGE = {
  path: '/oauth2.html',
  redirectUrl: 'redirectUrl',
  bxcontext: 'bxcontext',
} as const

/** assumed: the path of the consent page on the identity provider, unless `PLATFORM_AUTHORIZE_PATH` says otherwise. */
export const AUTHORIZE_PATH = '/authorize'

/** given 4.3: code exchange and refresh. */
export const TOKEN_PATH = '/oauth/token'

/** given 5.3.6 for refresh; assumed for the consent url and the exchange: the bxcontext travels under this name. */
export const BXCONTEXT_PARAMETER = 'bxcontext'

/** given 4.4 for POST, assumed for GET: a path below `{base_url}` that answers 401 without a token; `npm run doctor` calls it. */
export const API_CHECK_PATH = '/catalogues'

/** assumed: OData paging, and the header that carries the total when `$count=true`. */
export const PAGING = { top: '$top', skip: '$skip', orderBy: '$orderby', count: '$count' } as const
export const TOTAL_HEADER = 'x-odata-total-count'
export const MAX_PAGE = 100

/**
 * given 5.3.4: a bxcontext is text; assumed: 1 to 512 characters, none of them a control character, and not a
 * dot segment, which no URL path can carry.
 */
export const bxcontextSchema = z
  .string()
  .min(1)
  .max(512)
  .refine((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), 'has characters that are not text')
  .refine((value) => value !== '.' && value !== '..', 'is a dot segment')

/** assumed: a token is visible ASCII (RFC 6750 section 2.1 allows less), so that any header can carry it; at most 16 kB. */
export const tokenSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,16384}$/, 'is not a token of 1 to 16,384 visible ASCII characters')

/** assumed: the name of a business or a person: 1 to 200 characters, none of them a control character. */
const nameSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u)
  .refine((value) => value.trim() !== '')
  .optional()
  // Names are only shown: one that cannot be used must not fail the request.
  .catch(undefined)

/**
 * given 5.3.4 and 5.3.6: `access_token`, `refresh_token`, `expires_in` (seconds). assumed: all but the access
 * token may be absent, a number may come as a string, and the business and the person may be named. A field beside the
 * tokens that we cannot read counts as absent: the platform may have used up the refresh token that the new one replaces.
 */
export const tokenResponseSchema = z.looseObject({
  access_token: tokenSchema,
  refresh_token: tokenSchema.nullish(),
  expires_in: z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d+(\.\d+)?$/)
        .transform(Number),
    ])
    .pipe(z.number().nonnegative().max(3_153_600_000))
    .nullish()
    .catch(undefined),
  token_type: z.string().nullish().catch(undefined),
  scope: z.string().nullish().catch(undefined),
  business_name: nameSchema,
  user_name: nameSchema,
})

/** assumed: an id is a string or a number, and opaque; a string from here on. */
export const idSchema = z.string().min(1).or(z.number().transform(String).pipe(z.string()))

/** Text of a form, for what we send: trimmed, at most `max` characters. */
export const textField = (max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'must not be empty' : 'must be text') })
    .trim()
    .max(max, `must have at most ${max} characters`)

/** assumed: how long an access token lives if `expires_in` is absent, in ms. */
export const ASSUMED_LIFETIME_MS = 300_000

/** assumed: the token endpoint answers within this time, in ms. */
export const TOKEN_ENDPOINT_MS = 32_000

/** assumed: how many requests the platform accepts from one credential in any window of so many seconds. */
export const RATE_LIMIT = { requests: 100, windowSeconds: 30 } as const
