/**
 * What we know of the platform's OAuth and API as one value, `platform`, at the end: its paths, parameters, fields and limits.
 * Features that add operations have a `contract.ts` of their own. Each entry says "given", with the section of the supplier
 * integration specification, or "assumed", where the specification does not show it. `assumptions.json` lists what is assumed. If
 * you have the platform's full documentation, correct these files first. `oauth.ts` beside this file sends the requests.
 *
 * Schemas of what the platform sends are tolerant: they check the fields that we use, and unknown fields pass through. Schemas of
 * what we send are strict.
 */
import * as z from 'zod'
import assumptions from './assumptions.json' with { type: 'json' }

/** Something that the specification does not show, and what we assume in its place. */
export interface Assumption {
  /** Stable, for references: `consent-url`. */
  id: string
  /** What is not shown. */
  topic: string
  assumed: string
  /** The setting that changes it without a change to the code. */
  setting?: string
  /** 1: nothing works if it is wrong. 2: something does not work. 3: something is missing or less convenient. */
  importance: number
  /** What to change if the assumption is wrong: a name in `contract.ts`, or `FILE#NAME` for another file. */
  code: string
  /** What to do if it is wrong, at that place. */
  cure: string
}

/** The list for docs/assumptions.md, and for the questions to the platform's support team. */
export const ASSUMPTIONS: readonly Assumption[] = assumptions

/** given 5.3.6 for refresh; assumed for the consent url and the exchange: the parameter that carries the bxcontext. */
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
 * given 5.3.4: a bxcontext is text; assumed: 1 to 512 characters, none of them a control character, and not a
 * dot segment, which no URL path can carry.
 */
export const bxcontextSchema = z
  .string()
  .min(1)
  .max(512)
  .refine((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), 'has characters that are not text')
  .refine((value) => value !== '.' && value !== '..', 'is a dot segment')

/** assumed: the most characters that a token or a code has. RFC 6749 sets no limit (section 4.1.2). */
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

/** assumed: the name of a business or a person: 1 to 200 characters, none of them a control character. */
const nameSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u)
  .refine((value) => value.trim() !== '')
  .optional()
  // Names are only shown, so a name that we cannot use must not make the request fail.
  .catch(undefined)

/** assumed: an empty text means that the field is absent, as in Go's oauth2. */
const absentIfBlank = (value: unknown) =>
  typeof value === 'string' && value.trim() === '' ? undefined : value
/** assumed: the most characters that the scopes of a connection have. Scopes are stored with each connection, and shown. */
const MAX_SCOPE_LENGTH = 4_096

/**
 * given 5.3.4 and 5.3.6: `access_token`, `refresh_token`, `expires_in` (seconds). assumed: all but the access token may be
 * absent, a number may come as a string, and the business and the person may be named. If we cannot read a field other than the
 * tokens, it counts as absent. Refusing the answer would lose a new refresh token, and the old one may no longer work.
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
 * assumed: an id is a string or a number, and opaque. The app keeps it as a string. The schema refuses an integer of 2^53 or more,
 * because JavaScript may have rounded it to another integer.
 */
export const idSchema = z.string().min(1).or(z.number().refine(isExact).transform(String).pipe(z.string()))

function isExact(id: number): boolean {
  return Number.isSafeInteger(id) || !Number.isInteger(id)
}

/** given 4.2: `isSuccessful`; assumed: `error`. A write whose answer has one of these is refused, whatever its status. */
const refusalSchema = z.union([
  z.looseObject({ isSuccessful: z.literal(false) }),
  z.looseObject({ error: z.unknown().refine(isSaid) }),
])

function isSaid(error: unknown): boolean {
  return typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error)
}

const facts = {
  /**
   * The platform's name, in lower-case letters. It is part of the storage key of everything that belongs to a connection, so that
   * several platforms can share a store.
   */
  name: 'platform',
  /** given 5.3.2: the page that starts the flow, its parameter, and the parameter that it adds to the return address. */
  startPage: { path: '/oauth2.html', redirectUrl: 'redirectUrl', bxcontext: BXCONTEXT },
  /** assumed: the path of the consent page on the identity provider; `PLATFORM_AUTHORIZE_PATH` overrides it. */
  authorizePath: '/authorize',
  /** given 4.3: the path of the token endpoint, for code exchange and refresh. */
  tokenPath: '/oauth/token',
  /** The parameter of the consent url, the code exchange and the refresh that carries the bxcontext. */
  bxcontextParameter: BXCONTEXT,
  /** given 4.4 for POST, assumed for GET: a path below `{base_url}` that answers 401 without a token, for checks of the settings. */
  apiCheckPath: '/catalogues',
  /**
   * given 5.3.3, as examples: the scopes that the platform documents, by what they are for. They are the default of
   * `PLATFORM_SCOPES` if no feature needs any.
   */
  scopes: { catalogues: 'catalogues', leads: 'leads' },
  paging,
  /** assumed: how long an access token lives if `expires_in` is absent, in ms. */
  assumedLifetimeMs: 300_000,
  /** assumed: the token endpoint answers within 30 s. The app waits a little longer, in ms. */
  tokenEndpointMs: 32_000,
  bxcontextSchema,
  tokenResponseSchema,
  refusalSchema,
}

/** The facts of a platform: what the core, the settings and the features need to connect accounts on it and to call its API. */
export type Platform = Readonly<typeof facts> & {
  /** Whether a refresh leaves the refresh token in use, or ends it and returns a new one. */
  readonly refreshTokens: 'reused' | 'rotated'
}

/** given 5.3.6: the same refresh token is used again. */
export const platform: Platform = { ...facts, refreshTokens: 'reused' }
