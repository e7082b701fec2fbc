/**
 * The platform's interface B as we understand it: every path, parameter, field and limit, and nothing else.
 * "given" names the section of the supplier integration specification; "assumed" is not shown there and is
 * listed in the README. Whoever has the full documentation corrects this file alone.
 *
 * Schemas of what the platform sends are tolerant: they vouch for the fields that we use, and unknown ones pass.
 * Schemas of what we send are strict.
 */
import * as z from 'zod'

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

/** given 5.3.3, as examples: the scopes we know, and what they let an application do. */
export const SCOPES = { catalogues: 'catalogues', leads: 'leads' } as const

const REQUESTS = '/catalogues/incomingIntegrationConnections'
const catalogue = (id: string) => `/catalogues/${encodeURIComponent(id)}`
const importOf = (id: string, batchId: string) => `${catalogue(id)}/import/${encodeURIComponent(batchId)}`
const decided = (id: string) => `?integrationConnectionId=${encodeURIComponent(id)}`

/** Paths below `{base_url}`: given 4.2 and 4.4, apart from those marked. */
export const PATHS = {
  login: '/accounts/auth/login',
  refreshToken: '/accounts/auth/refresh-token',
  tenants: '/accounts/tenants',
  catalogues: '/catalogues',
  /** assumed. */
  catalogue,
  startImport: (id: string) => `${catalogue(id)}/import/start`,
  import: importOf,
  importItems: (id: string, batchId: string) => `${importOf(id, batchId)}/items`,
  accessControls: (id: string) => `${catalogue(id)}/accesscontrols`,
  builderRequests: REQUESTS,
  acceptBuilderRequest: (id: string) => `${REQUESTS}/accept${decided(id)}`,
  /** assumed. */
  rejectBuilderRequest: (id: string) => `${REQUESTS}/reject${decided(id)}`,
  /** assumed. */
  leads: '/leads',
  /** assumed. */
  lead: (id: string) => `/leads/${encodeURIComponent(id)}`,
} as const

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
const tokenSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,16384}$/, 'is not a token of 1 to 16,384 visible ASCII characters')

/**
 * given 5.3.4 and 5.3.6: `access_token`, `refresh_token`, `expires_in` (seconds). assumed: all but the access
 * token may be absent, and a number may come as a string.
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
    .nullish(),
  token_type: z.string().nullish(),
  scope: z.string().nullish(),
})

/** assumed: an id is a string or a number, and opaque. */
const idSchema = z.union([z.string().min(1), z.number()])

/** assumed, apart from `scope` (given 2.5). */
export const catalogueSchema = z.object({
  id: idSchema,
  name: z.string().nullish(),
  scope: z.string().nullish(),
  itemCount: z.number().nullish(),
  updatedAt: z.string().nullish(),
})
export type Catalogue = z.infer<typeof catalogueSchema>

/** assumed. */
export const leadSchema = z.object({
  id: idSchema,
  name: z.string().nullish(),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  suburb: z.string().nullish(),
  projectType: z.string().nullish(),
  status: z.string().nullish(),
  notes: z.string().nullish(),
  createdAt: z.string().nullish(),
})
export type Lead = z.infer<typeof leadSchema>

const text = (max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'must not be empty' : 'must be text') })
    .trim()
    .max(max, `must have at most ${max} characters`)

/** assumed: what creates a lead. */
export const newLeadSchema = z.strictObject({
  name: text(200).min(1, 'must not be empty'),
  email: z.email('must be an email address').max(254).optional(),
  phone: text(40).optional(),
  suburb: text(100).optional(),
  projectType: text(100).optional(),
  notes: text(2000).optional(),
})
export type NewLead = z.infer<typeof newLeadSchema>

/** given 4.2: what every first-party call carries, login and refresh included. */
export const SUBSCRIPTION_HEADER = 'Ocp-Apim-Subscription-Key'

/**
 * given 4.2: the answer to login. assumed: `expiresIn` may be a string or absent, and the answer to refresh-token
 * is the same. `isSuccessful: false` is a refusal whatever the status.
 */
export const firstPartyTokensSchema = z.looseObject({
  accessToken: tokenSchema,
  refreshToken: tokenSchema.nullish(),
  expiresIn: tokenResponseSchema.shape.expires_in,
  isSuccessful: z.boolean().nullish(),
})

/** assumed: `GET /accounts/tenants` answers an array of these. */
export const tenantSchema = z.object({ tenantId: z.string().min(1), name: z.string().nullish() })
export type Tenant = z.infer<typeof tenantSchema>

/** given 2.5: who sees a catalogue. */
export const CATALOGUE_SCOPES = ['Public', 'Managed'] as const

/** assumed, apart from `scope` (given 2.5): what creates a catalogue. */
export const newCatalogueSchema = z.strictObject({
  name: text(200).min(1, 'must not be empty'),
  scope: z.enum(CATALOGUE_SCOPES, 'must be Public or Managed'),
})
export type NewCatalogue = z.infer<typeof newCatalogueSchema>

/** given 8: the most items in one upload. */
export const MAX_BATCH = 1000

/** assumed: the fields of an item and their limits; the platform keeps one item per code and catalogue. */
export const ITEM_LIMITS = { code: 100, text: 2000, price: 1e9 } as const
export interface Item {
  code: string
  name?: string
  description?: string
  unit?: string
  category?: string
  /** Recommended retail price of one unit before tax, in dollars. */
  price: number
}

/** assumed: the body of an upload. */
export const itemsBody = (items: readonly Item[]) => JSON.stringify({ items })

/** given 2.5: the caller chooses it, unique per catalogue; assumed: up to 100 letters, digits, `-`, `_` and dots. */
export const batchIdSchema = z
  .string()
  .regex(/^[\w-][\w.-]{0,99}$/, 'must be 1 to 100 letters, digits, - _ or dots')

/**
 * assumed: the state of an import job. `Completed` and `Failed`, in any letter case, are final; the counts are of
 * distinct items and may be absent.
 */
export const importJobSchema = z.object({
  batchId: z.string().nullish(),
  status: z.string().min(1),
  itemsReceived: z.number().nullish(),
  itemsProcessed: z.number().nullish(),
  message: z.string().nullish(),
})
export type ImportJob = z.infer<typeof importJobSchema>

/** given 2.5 and 8. */
export const externalRefSchema = z
  .string('must be text')
  .regex(/^[A-Za-z0-9]{1,255}$/, 'must be 1 to 255 letters and digits, nothing else')

/** assumed, apart from the names (given 2.5): what grants a builder access to a catalogue. */
export const accessControlSchema = z.strictObject({
  externalRef: externalRefSchema,
  isPreApproved: z.boolean('must be true or false'),
})
export type AccessControl = z.infer<typeof accessControlSchema>

/** given 2.5: `integrationConnectionId`; assumed: the rest. */
export const builderRequestSchema = z.object({
  integrationConnectionId: idSchema,
  externalRef: z.string().nullish(),
  requestedAt: z.string().nullish(),
  builder: z
    .object({
      name: z.string().nullish(),
      contact: z.string().nullish(),
      email: z.string().nullish(),
      phone: z.string().nullish(),
      suburb: z.string().nullish(),
    })
    .nullish(),
})
export type BuilderRequest = z.infer<typeof builderRequestSchema>

/** given 6: the one event that is named. */
export const BUILDER_REQUESTED = 'integration-connection.requested'

/**
 * assumed: the body of a webhook. `data.bxcontext` says whose event it is. The payload is not shown, so that a body
 * without `id` or `type` is an event as well, of an unknown kind.
 */
export const webhookEventSchema = z.looseObject({
  id: z
    .union([z.string().min(1).max(200), z.number().transform(String)])
    .refine((value) => value.isWellFormed(), 'has characters that are not text')
    .nullish(),
  type: z.string().min(1).max(200).nullish().catch(null),
  occurredAt: z
    .union([z.string().max(100), z.number()])
    .nullish()
    .catch(null),
  data: z.looseObject({ bxcontext: bxcontextSchema.nullish() }).nullish().catch(null),
})
export type WebhookEvent = z.infer<typeof webhookEventSchema>

/** assumed: hex of HMAC-SHA256 over the raw body, perhaps after `sha256=`, in this header unless set otherwise. */
export const WEBHOOK_HEADER = 'X-Webhook-Signature'

/** assumed: requests per window (in seconds) that the platform takes from one credential. */
export const RATE_LIMIT = '100/30'
