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
export const START_PAGE = { path: '/oauth2.html', redirectUrl: 'redirectUrl', context: 'bxcontext' } as const

/** assumed: the path of the consent page on the identity provider, unless `PLATFORM_AUTHORIZE_PATH` says otherwise. */
export const AUTHORIZE_PATH = '/authorize'

/** given 4.3: code exchange and refresh. */
export const TOKEN_PATH = '/oauth/token'

/** given 5.3.6 for refresh; assumed for the consent url and the exchange: the context travels under this name. */
export const CONTEXT_PARAMETER = 'bxcontext'

/** given 5.3.3, as examples: the scopes we know, and what they let an application do. */
export const SCOPES = { catalogues: 'catalogues', leads: 'leads' } as const

/** assumed: paths below `{base_url}`. */
export const PATHS = {
  catalogues: '/catalogues',
  catalogue: (id: string) => `/catalogues/${encodeURIComponent(id)}`,
  leads: '/leads',
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
export const contextSchema = z
  .string()
  .min(1)
  .max(512)
  .refine((value) => !/\p{Cc}/u.test(value) && value.isWellFormed(), 'has characters that are not text')
  .refine((value) => value !== '.' && value !== '..', 'is a dot segment')

/**
 * given 5.3.4 and 5.3.6: `access_token`, `refresh_token`, `expires_in` (seconds). assumed: all but the access
 * token may be absent, and a number may come as a string.
 */
export const tokenAnswerSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
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

const text = (max: number) => z.string('must be text').trim().max(max, `must have at most ${max} characters`)

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
