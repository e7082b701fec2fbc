/**
 * The paths, parameters, fields and limits of the platform's OAuth and API, as one value: `platform`, at the end. Features that add
 * operations have a `contract.ts` of their own. Each entry is marked "given", with the section of the supplier integration
 * specification, or "assumed" if the specification doesn't show it. `assumptions.json` lists the assumptions. If you have the
 * platform's full documentation, correct these files first. `oauth.ts` beside this file sends the requests.
 *
 * Schemas of the platform's answers are tolerant: they check the fields that we use, and keep unknown fields. Schemas of our
 * requests are strict.
 */
import * as z from 'zod'
import assumptions from './assumptions.json' with { type: 'json' }

/** A fact that the specification does not show, and our assumption. */
export interface Assumption {
  /** A stable name for references, for example `consent-url`. */
  id: string
  /** The fact that the specification does not show. */
  topic: string
  assumed: string
  /** The setting that changes it without a change to the code. */
  setting?: string
  /** If it is wrong: 1: the app does not work at all. 2: a part does not work. 3: a part is missing or less convenient. */
  importance: number
  /** Where to change the code if the assumption is wrong: a name in `contract.ts`, or `FILE#NAME` for another file. */
  code: string
  /** The change to make there. */
  cure: string
}

/** The list for docs/assumptions.md, and for the questions to the platform's support team. */
export const ASSUMPTIONS: readonly Assumption[] = assumptions

/** The parameter that carries the bxcontext. given 5.3.6 for the refresh; assumed for the consent url and the exchange. */
const BXCONTEXT = 'bxcontext'

/** Quotes a text for a `$filter`, so that it cannot change the filter (OData 4.01 URL conventions, section 5.1.1.6.1). */
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** assumed: OData paging, and the header that carries the total when `$count=true`. */
const paging = {
  top: '$top',
  skip: '$skip',
  orderBy: '$orderby',
  filter: '$filter',
  count: '$count',
  totalHeader: 'x-odata-total-count',
  maxTop: 100,
  equals: (field: string, text: string) => `${field} eq ${quoted(text)}`,
  contains: (field: string, text: string) => `contains(${field},${quoted(text)})`,
  all: (conditions: readonly string[]) => conditions.join(' and '),
}

/**
 * given 5.3.4: a bxcontext is text; assumed: it has 1 to 512 characters without control characters. It isn't a dot segment, because
 * a URL path cannot contain one.
 */
export const bxcontextSchema = z
  .string()
  .min(1)
  .max(512)
  .refine((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), 'has characters that are not text')
  .refine((value) => value !== '.' && value !== '..', 'is a dot segment')

/** assumed: the longest token or code, in characters. RFC 6749 sets no limit (section 4.1.2). */
export const MAX_TOKEN_LENGTH = 16_384

/** assumed: a token is visible ASCII (RFC 6750 section 2.1 allows fewer characters), so that any header can carry it. */
export const tokenSchema = z
  .string()
  .max(MAX_TOKEN_LENGTH)
  .regex(/^[\x21-\x7e]+$/, 'is not a token of visible ASCII characters')

/** assumed: a refresh token may also have spaces (RFC 6749 appendix A.17), because no header carries it. */
const refreshTokenSchema = z
  .string()
  .max(MAX_TOKEN_LENGTH)
  .regex(/^[\x20-\x7e]+$/, 'is not a token of ASCII characters')

/** assumed: the name of a business or a person has 1 to 200 characters without control characters. */
const nameSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u)
  .refine((value) => value.trim() !== '')
  .optional()
  // Names are only displayed, so an invalid name must not make the request fail.
  .catch(undefined)

/** assumed: an empty text means that the field is absent, as in Go's oauth2. */
const absentIfBlank = (value: unknown) =>
  typeof value === 'string' && value.trim() === '' ? undefined : value
/** assumed: the longest `scope`, in characters. Scopes are stored with each connection, and displayed. */
const MAX_SCOPE_LENGTH = 4_096

/**
 * given 5.3.4 and 5.3.6: `access_token`, `refresh_token`, `expires_in` (seconds). assumed: all fields but the access token may be
 * absent, a number may be a string, and the answer may name the business and the person. An invalid field other than the tokens
 * counts as absent. If we refused the answer, we would lose a new refresh token, and the old token may no longer work.
 */
export const tokenResponseSchema = z.looseObject({
  access_token: tokenSchema,
  refresh_token: z.preprocess(absentIfBlank, refreshTokenSchema.nullish()),
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
  token_type: z.preprocess(absentIfBlank, z.string().trim().nullish().catch(undefined)),
  scope: z.preprocess(absentIfBlank, z.string().max(MAX_SCOPE_LENGTH).nullish().catch(undefined)),
  business_name: nameSchema,
  user_name: nameSchema,
})

/**
 * assumed: an id is an opaque string or number. The app keeps it as a string. The schema refuses an integer of 2^53 or more,
 * because JavaScript may have rounded it to another integer.
 */
export const idSchema = z.string().min(1).or(z.number().refine(isExact).transform(String).pipe(z.string()))

function isExact(id: number): boolean {
  return Number.isSafeInteger(id) || !Number.isInteger(id)
}

/** given 4.2: `isSuccessful`; assumed: `error`. An answer to a write that contains either is a refusal, whatever its status. */
const refusalSchema = z.union([
  z.looseObject({ isSuccessful: z.literal(false) }),
  z.looseObject({ error: z.unknown().refine(isSaid) }),
])

function isSaid(error: unknown): boolean {
  return typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error)
}

const facts = {
  /**
   * The platform's name, in lower-case letters. The storage keys of connections contain it, so that several platforms can share a
   * store.
   */
  name: 'platform',
  /** given 5.3.2: the page that starts the flow, its parameter, and the parameter that it adds to the return address. */
  startPage: { path: '/oauth2.html', redirectUrl: 'redirectUrl', bxcontext: BXCONTEXT },
  /** assumed: the path of the consent page on the identity provider. `PLATFORM_AUTHORIZE_PATH` overrides it. */
  authorizePath: '/authorize',
  /** given 4.3: the path of the token endpoint, for code exchange and refresh. */
  tokenPath: '/oauth/token',
  /** The parameter of the consent url, the code exchange and the refresh that carries the bxcontext. */
  bxcontextParameter: BXCONTEXT,
  /** given 4.4 for POST, assumed for GET: a path below `{base_url}` that answers 401 without a token, to check the settings. */
  apiCheckPath: '/catalogues',
  /**
   * given 5.3.3, as examples: the scopes that the platform documents, by their purpose. They are the default of `PLATFORM_SCOPES`
   * if no feature requires a scope.
   */
  scopes: { catalogues: 'catalogues', leads: 'leads' },
  paging,
  /** assumed: how long an access token lives if `expires_in` is absent, in ms. */
  assumedLifetimeMs: 300_000,
  /** assumed: the token endpoint answers within 30 s. This is how long the app waits for it, in ms. */
  tokenEndpointMs: 32_000,
  bxcontextSchema,
  tokenResponseSchema,
  refusalSchema,
}

/** The facts of a platform that the core, the settings and the features use to connect accounts on it and to call its API. */
export type Platform = Readonly<typeof facts> & {
  /** Whether a refresh keeps the refresh token, or replaces it with a new one. */
  readonly refreshTokens: 'reused' | 'rotated'
}

/** given 5.3.6: a refresh uses the same refresh token again. */
export const platform: Platform = { ...facts, refreshTokens: 'reused' }
