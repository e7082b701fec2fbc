/** What a supplier's live pricing answers, as far as it makes sense. */
export interface Shop {
  id: string
  name: string
  suburb: string
  /** Kilometres, if the supplier gives them. */
  distance: number | undefined
  /** Today's opening hours in words. */
  today: string
}

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
  errorCode: string | undefined
  errorMessage: string | undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const noPrice = (errorMessage: string, errorCode?: string): PriceAnswer => ({
  unitPrice: null,
  discount: null,
  totalPrice: null,
  errorCode,
  errorMessage,
})

/** The price of a line, or what is wrong with the answer. */
export function parsePrice(answer: unknown, line: PriceLine | undefined): PriceAnswer {
  if (typeof answer !== 'object' || answer === null) return noPrice('The supplier’s answer is not a price.')
  const given = answer as Record<string, unknown>
  const amounts = [given.unitPrice, given.discount, given.totalPrice]
  if (amounts.every((amount) => amount == null))
    return noPrice(
      textOf(given.errorMessage) || 'The supplier gives no price and no reason.',
      textOf(given.errorCode) || undefined,
    )
  if (given.itemId !== line?.itemId || given.storeId !== line?.storeId)
    return noPrice('The supplier answers for another item or store.')
  const [unitPrice = 0, discount = 0, totalPrice = 0] = amounts.map((amount) =>
    typeof amount === 'number' ? amount : Number.NaN,
  )
  const expected = unitPrice * (line?.quantity ?? 0) - discount
  // Less than a tenth of a cent is rounding.
  if (!(Math.abs(expected - totalPrice) < 0.001)) return noPrice('The supplier’s price does not add up.')
  return { unitPrice, discount, totalPrice, errorCode: undefined, errorMessage: undefined }
}

interface StoreAnswer {
  id?: unknown
  name?: unknown
  address?: { suburb?: unknown }
  distance?: unknown
  tradingHours?: {
    timeZone?: string
    dailyTradingHours?: { day: string; openingHours: Opening[] }[]
    publicHolidays?: { date: string; name: string; openingHours: Opening[] }[]
  }
}
type Opening = { opens: string; closes: string }

/** A store; undefined without an id. */
export function parseShop(store: StoreAnswer | null): Shop | undefined {
  const id = textOf(store?.id)
  if (id === '') return undefined
  return {
    id,
    name: textOf(store?.name) || id,
    suburb: textOf(store?.address?.suburb),
    distance: typeof store?.distance === 'number' ? store.distance : undefined,
    today: openingHoursToday(store?.tradingHours),
  }
}

/** Today's opening hours, in the store's time zone. */
function openingHoursToday(hours: StoreAnswer['tradingHours'], now = new Date()): string {
  try {
    const { timeZone = 'UTC', dailyTradingHours = [], publicHolidays = [] } = hours ?? {}
    const date = now.toLocaleDateString('en-CA', { timeZone })
    const weekday = now.toLocaleDateString('en', { timeZone, weekday: 'long' })
    const holiday = publicHolidays.find((known) => known.date === date)
    const openings =
      holiday?.openingHours ?? dailyTradingHours.find(({ day }) => day === weekday)?.openingHours
    if (!openings) return ''
    const times = openings.map(({ opens, closes }) => `${opens} to ${closes}`).join(', ') || 'closed'
    return `${holiday?.name ?? 'today'}: ${times}`
  } catch {
    return ''
  }
}
