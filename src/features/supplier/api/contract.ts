/**
 * The contract of the live pricing API, which a supplier hosts and the platform calls: every path, parameter, field,
 * code and limit. "given" cites a section of the supplier integration specification. "assumed" marks details that it
 * doesn't define, which docs/assumptions.md lists too. If you have the full documentation, correct only this file.
 *
 * Request schemas and stores leave out unknown fields; the other response schemas are strict.
 */
import * as z from 'zod'

/** given 4.1: paths below `{supplier_base_url}`. */
export const PATHS = {
  token: '/connect/token',
  nearest: '/stores/nearest',
  store: '/stores/{id}',
  prices: '/request-prices',
} as const

/** given 4.1. */
export const GRANT_TYPE = 'client_credentials'

/** assumed: section 8 defines no limits for the search, the list of stores or a price request. */
export const LIMITS = {
  /** More than half of the Earth's circumference, so every store is in range. */
  radiusKm: 50_000,
  stores: 50,
  items: 1000,
  bodyBytes: 1_000_000,
  tokenBodyBytes: 16_384,
  quantity: 1_000_000,
} as const

/** assumed: the names of the search parameters; the radius is in kilometres. */
export const NEAREST = { latitude: 'latitude', longitude: 'longitude', radius: 'radius' } as const

/** The minimum and maximum of each of these parameters. */
export const NEAREST_RANGES = [
  { name: NEAREST.latitude, minimum: -90, maximum: 90, description: 'degrees; south is negative' },
  { name: NEAREST.longitude, minimum: -180, maximum: 180, description: 'degrees; west is negative' },
  { name: NEAREST.radius, minimum: 0, maximum: LIMITS.radiusKm, description: 'kilometres' },
] as const

/** given 4.1: the names. assumed: a form or JSON. */
export const tokenRequestSchema = z
  .object({ grant_type: z.literal(GRANT_TYPE), client_id: z.string(), client_secret: z.string() })
  .meta({ id: 'TokenRequest', description: 'The client credentials grant.' })

/**
 * given 2.1: exactly three fields, including `expires_in` (seconds). assumed: the other two are named as in RFC 6749 section 5.1.
 */
export const tokenResponseSchema = z
  .strictObject({
    access_token: z.string().min(1).meta({ description: 'sent as `Authorization: Bearer`' }),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int().positive().meta({ description: 'lifetime in seconds' }),
  })
  .meta({ id: 'TokenResponse', description: 'A bearer token. Exactly three fields.' })
export type TokenResponse = z.infer<typeof tokenResponseSchema>

/** assumed: the token endpoint returns errors as defined in RFC 6749 section 5.2. */
export const tokenErrorSchema = z
  .strictObject({
    error: z.enum([
      'invalid_request',
      'invalid_client',
      'unsupported_grant_type',
      'temporarily_unavailable',
      'server_error',
    ]),
    error_description: z.string(),
  })
  .meta({ id: 'TokenError', description: 'Why no token was issued (RFC 6749 section 5.2).' })

export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** given 2.2: the names of the schemas and how they are nested. assumed: all of their fields. */
export const openingHoursSchema = z
  .object({
    opens: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .meta({ examples: ['07:00'] }),
    closes: z
      .string()
      .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/)
      .meta({ examples: ['17:30'], description: 'later than `opens`; 24:00 is the end of the day' }),
  })
  .meta({ id: 'OpeningHours', description: 'One opening period, in the time zone of the store.' })

const openings = z
  .array(openingHoursSchema)
  .meta({ description: 'sorted by time, without overlaps; empty if the store is closed' })

const dailyTradingHoursSchema = z
  .object({ day: z.enum(DAYS), openingHours: openings })
  .meta({ id: 'DailyTradingHours', description: 'The opening hours of a day of the week.' })

const publicHolidaySchema = z
  .object({ date: z.iso.date(), name: z.string(), openingHours: openings })
  .meta({ id: 'PublicHoliday', description: 'A date whose opening hours replace those of its weekday.' })

const tradingHoursSchema = z
  .object({
    timeZone: z
      .string()
      .meta({ description: 'a name from the IANA time zone database', examples: ['Australia/Sydney'] }),
    dailyTradingHours: z.array(dailyTradingHoursSchema).length(7).meta({ description: 'Monday to Sunday' }),
    publicHolidays: z.array(publicHolidaySchema).meta({ description: 'sorted by date' }),
  })
  .meta({ id: 'TradingHours', description: 'When a store is open.' })

const text = z.string()
const addressSchema = z
  .object({ street: text, suburb: text, state: text, postcode: text, country: text })
  .meta({ id: 'Address', description: 'Where a store is. A part that is unknown is empty.' })

export const storeSchema = z
  .object({
    id: z.string().min(1).max(100),
    name: z.string().min(1),
    address: addressSchema,
    phone: z.string().optional(),
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    tradingHours: tradingHoursSchema,
    distance: z
      .number()
      .nonnegative()
      .optional()
      .meta({ description: 'kilometres from the search location; only in search results' }),
  })
  .meta({ id: 'Store', description: 'A shop of the supplier.' })
export type Store = z.infer<typeof storeSchema>

/** given 2.3: an item id, a store id and a quantity. assumed: their names and types. */
const priceItemRequestSchema = z
  .object({
    itemId: z.string().meta({ description: 'the code of the item in the published catalogue' }),
    storeId: z.string(),
    quantity: z.number().meta({ description: `more than 0, at most ${LIMITS.quantity}`, examples: [2.4] }),
  })
  .meta({ id: 'PriceItemRequest', description: 'A quantity of an item at a store.' })

/** given 2.3: an optional member number and a list of items. assumed: the names. */
export const priceRequestSchema = z
  .object({
    memberNumber: z
      .string()
      .nullish()
      .meta({ description: 'the builder’s account number with the supplier' }),
    items: z.array(priceItemRequestSchema).meta({ maxItems: LIMITS.items }),
  })
  .meta({ id: 'PriceRequest' })

/** A price request whose lines are not validated, because an invalid line must not make the whole call fail (section 7). */
export const looseRequestSchema = priceRequestSchema.extend({ items: z.array(z.unknown()) })

/** assumed (section 7 defines none): error codes of items that cannot be priced, with their messages. */
export const ITEM_ERRORS = {
  line_invalid: 'The line must have an itemId, a storeId and a quantity.',
  item_unknown: 'This item does not exist.',
  item_not_in_range: 'The store does not sell this item.',
  store_unknown: 'This store does not exist.',
  member_unknown: 'This member number does not exist.',
  quantity_invalid: 'The quantity must be a number greater than 0.',
  quantity_too_large: 'The quantity exceeds 1,000,000.',
  price_on_application: 'The price of this item is available on application. Contact the store.',
  price_unavailable: 'The price is temporarily unavailable. Please try again later.',
} as const
export type ItemError = keyof typeof ITEM_ERRORS
const itemErrors = Object.keys(ITEM_ERRORS) as [ItemError, ...ItemError[]]

/**
 * given 2.4: `unitPrice`, `discount` and `totalPrice`, null on error; an error code and a message. assumed: the other
 * names. `itemId`, `storeId` and `quantity` are those of the line, or null if they have another type.
 */
export const priceItemSchema = z
  .strictObject({
    itemId: z.string().nullable().meta({ description: 'as requested; null if that is not text' }),
    storeId: z.string().nullable().meta({ description: 'as requested; null if that is not text' }),
    quantity: z.number().nullable().meta({ description: 'as requested; null if that is not a number' }),
    unitPrice: z.number().nullable().meta({ description: 'dollars before tax, per unit; null on error' }),
    discount: z.number().nullable().meta({
      description:
        'dollars, for the whole quantity, rounded half up to cents; at most unitPrice * quantity; null on error',
    }),
    totalPrice: z
      .number()
      .nullable()
      .meta({ description: 'exactly unitPrice * quantity - discount, not rounded; null on error' }),
    errorCode: z
      .enum(itemErrors)
      .optional()
      .meta({ description: 'why there is no price; only present on error' }),
    errorMessage: z.string().optional().meta({ description: 'the same as a message for the builder' }),
  })
  .meta({ id: 'PriceItem', description: 'The price of one item, or the reason why it has none.' })
export type PriceItem = z.infer<typeof priceItemSchema>

/** assumed: errors are problem documents (RFC 9457), except those of the token endpoint. */
export const problemSchema = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string().optional(),
    errors: z
      .array(z.strictObject({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'all problems with the input, each with its path, such as `items[3].storeId`' }),
  })
  .meta({ id: 'Problem', description: 'Why a call failed (RFC 9457).' })
