import * as z from 'zod'

export interface PriceLine {
  itemId: string
  storeId: string
  quantity: number
}

/** The supplier's answer for one item: a price, or why there is none. */
export interface PriceAnswer {
  unitPrice: number | null
  discount: number | null
  totalPrice: number | null
  errorCode?: string | undefined
  errorMessage?: string | undefined
}

const answerSchema = z.object({
  itemId: z.unknown(),
  storeId: z.unknown(),
  unitPrice: z.unknown(),
  discount: z.unknown(),
  totalPrice: z.unknown(),
  errorCode: z.string().optional().catch(undefined),
  errorMessage: z.string().optional().catch(undefined),
})
/** No discount is a discount of 0. */
const priceSchema = z.object({
  unitPrice: z.number(),
  discount: z.number().nullish().transform(Number),
  totalPrice: z.number(),
})

/** The price of a line, or what is wrong with the answer. */
export function parsePrice(given: unknown, line: PriceLine): PriceAnswer {
  const { data: answer } = answerSchema.safeParse(given)
  if (!answer) return noPrice('The supplier’s answer is not a price.')
  const { unitPrice, discount, totalPrice, errorCode, errorMessage } = answer
  if ([unitPrice, discount, totalPrice].every((amount) => amount == null))
    return noPrice(errorMessage ?? 'The supplier gives no price and no reason.', errorCode)
  if (answer.itemId !== line.itemId || answer.storeId !== line.storeId)
    return noPrice('The supplier answers for another item or store.')
  const { data: price } = priceSchema.safeParse(answer)
  // Less than a tenth of a cent is rounding.
  const addsUp =
    price && Math.abs(price.unitPrice * line.quantity - price.discount - price.totalPrice) < 0.001
  return addsUp ? price : noPrice('The supplier’s price does not add up.')
}

const noPrice = (errorMessage: string, errorCode?: string): PriceAnswer => ({
  unitPrice: null,
  discount: null,
  totalPrice: null,
  errorCode,
  errorMessage,
})

const openings = z.array(z.object({ opens: z.string(), closes: z.string() }))
const hoursSchema = z.object({
  timeZone: z.string(),
  dailyTradingHours: z.array(z.object({ day: z.string(), openingHours: openings })),
  publicHolidays: z.array(z.object({ date: z.string(), name: z.string(), openingHours: openings })),
})
/** A store with an id; what else does not make sense is left out. */
const shopSchema = z
  .object({
    id: z.string().min(1),
    name: z.string().catch(''),
    address: z.object({ suburb: z.string() }).catch({ suburb: '' }),
    /** Kilometres. */
    distance: z.number().optional().catch(undefined),
    tradingHours: hoursSchema.optional().catch(undefined),
  })
  .transform(({ id, name, address: { suburb }, distance, tradingHours }) => ({
    id,
    name: name || id,
    suburb,
    distance,
    /** Today's opening hours in words. */
    today: tradingHours ? openingHoursToday(tradingHours) : '',
  }))
export type Shop = z.output<typeof shopSchema>

const MAX_STORES = 50

/** The stores of a search, or what is wrong with the answer. */
export function parseShops(stores: unknown): Shop[] | string {
  if (!Array.isArray(stores)) return 'The supplier’s live pricing did not answer with a list of stores.'
  const { data } = z.array(shopSchema).safeParse(stores.slice(0, MAX_STORES))
  return data ?? 'The supplier’s live pricing answered with a store without an id.'
}

/** Today's opening hours, in the store's time zone. */
function openingHoursToday({ timeZone, dailyTradingHours, publicHolidays }: z.infer<typeof hoursSchema>) {
  try {
    const now = new Date()
    const date = now.toLocaleDateString('en-CA', { timeZone })
    const weekday = now.toLocaleDateString('en', { timeZone, weekday: 'long' })
    const holiday = publicHolidays.find((known) => known.date === date)
    const today = holiday ?? dailyTradingHours.find(({ day }) => day === weekday)
    if (!today) return ''
    const times = today.openingHours.map(({ opens, closes }) => `${opens} to ${closes}`).join(', ')
    return `${holiday?.name ?? 'today'}: ${times || 'closed'}`
  } catch {
    // There is no such time zone.
    return ''
  }
}
