import type { Sql } from './database.ts'
import type { Journal } from './journal.ts'

/** A supplier's live pricing as it is registered with the platform (specification 1.3): its base address and access. */
export interface LivePricing {
  url: string
  clientId: string
  clientSecret: string
}

export interface Shop {
  id: string
  name: string
  suburb: string
  /** Kilometres, when the supplier tells. */
  distance: number | undefined
  /** Today's openings in words. */
  today: string
}

export interface PriceLine {
  itemId: string
  storeId: string
  quantity: number
}

/** What the supplier answers for one item: a price, or why there is none. */
export interface PriceAnswer {
  unitPrice: number | null
  discount: number | null
  totalPrice: number | null
  errorCode: string | undefined
  errorMessage: string | undefined
}

/** The supplier's live pricing did not answer as it should; the message is for the builder. */
export class LivePricingFailed extends Error {}

const PATIENCE_MS = 10_000
/** A token that ends this soon is not used any more, in ms. */
const MARGIN_MS = 5_000
const MOST_STORES = 50
/** The longest answer that is read, in characters. */
const MOST_TEXT = 4_000_000

export type LivePricingCaller = ReturnType<typeof createLivePricing>

/** The platform's part of Interface A (specification 4.1, 5.1): it gets a token, uses it until it ends, and asks. */
export function createLivePricing(sql: Sql, journal: Journal) {
  const tokens = new Map<string, { token: string; endsAt: number }>()

  const of = (supplier: string): LivePricing | undefined =>
    sql
      .all("SELECT url, client_id, client_secret FROM live_pricing WHERE context = ? AND url <> ''", supplier)
      .map(({ url, client_id, client_secret }) => ({
        ...{ url: String(url), clientId: String(client_id), clientSecret: String(client_secret) },
      }))[0]

  async function send(
    what: string,
    url: string,
    init: RequestInit,
  ): Promise<{ status: number; json: unknown }> {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const answer = await fetch(url, { ...init, redirect: 'manual', signal })
      journal.add(`live pricing: ${what}`, answer.status)
      return { status: answer.status, json: parsed(await textOf(answer)) }
    } catch {
      journal.add(`live pricing: ${what}`, 'no answer')
      throw new LivePricingFailed('The supplier’s live pricing does not answer.')
    }
  }

  async function tokenFor(supplier: string, { url, clientId, clientSecret }: LivePricing): Promise<string> {
    const known = tokens.get(supplier)
    if (known && known.endsAt - MARGIN_MS > Date.now()) return known.token
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
    })
    const { status, json } = await send('token', `${url}/connect/token`, { method: 'POST', body })
    const { access_token: token, expires_in: seconds } = (json ?? {}) as Record<string, unknown>
    if (status === 401)
      throw new LivePricingFailed('The supplier’s live pricing does not accept the platform’s credentials.')
    if (
      status !== 200 ||
      typeof token !== 'string' ||
      !/^[\x21-\x7e]+$/.test(token) ||
      typeof seconds !== 'number'
    )
      throw new LivePricingFailed(`The supplier’s live pricing gave no access token (${status}).`)
    tokens.set(supplier, { token, endsAt: Date.now() + seconds * 1000 })
    return token
  }

  /** Calls with a token; a token that is refused is replaced once. */
  async function call(
    supplier: string,
    what: string,
    path: string,
    init: RequestInit = {},
  ): Promise<unknown> {
    const at = of(supplier)
    if (!at) throw new LivePricingFailed('The supplier has not registered live pricing with the platform.')
    for (let tries = 1; ; tries++) {
      const authorization = `Bearer ${await tokenFor(supplier, at)}`
      const { status, json } = await send(what, at.url + path, {
        ...init,
        headers: { ...init.headers, authorization },
      })
      if (status === 200) return json
      if (status !== 401 || tries === 2)
        throw new LivePricingFailed(
          `The supplier’s live pricing answered ${status} to the request for ${what}.`,
        )
      tokens.delete(supplier)
    }
  }

  return {
    of,
    /** What a person saves in Business setup. */
    register(supplier: string, { url, clientId, clientSecret }: LivePricing): void {
      tokens.delete(supplier)
      sql.run(
        'INSERT OR REPLACE INTO live_pricing VALUES (?, ?, ?, ?, 1)',
        supplier,
        url,
        clientId,
        clientSecret,
      )
    },
    /** What holds as long as nobody has saved or removed anything. */
    registerDefault(supplier: string, { url, clientId, clientSecret }: LivePricing): void {
      sql.run(
        `INSERT INTO live_pricing VALUES (?, ?, ?, ?, 0) ON CONFLICT DO UPDATE SET
          url = excluded.url, client_id = excluded.client_id, client_secret = excluded.client_secret WHERE saved = 0`,
        ...[supplier, url, clientId, clientSecret],
      )
    },
    remove(supplier: string): void {
      tokens.delete(supplier)
      sql.run("INSERT OR REPLACE INTO live_pricing VALUES (?, '', '', '', 1)", supplier)
    },

    /** Stores around a place, the nearest first. */
    async nearest(
      supplier: string,
      place: { latitude: number; longitude: number; radius: number },
    ): Promise<Shop[]> {
      const { latitude, longitude, radius } = place
      const query = `latitude=${latitude}&longitude=${longitude}&radius=${radius}`
      const stores = await call(supplier, 'stores', `/stores/nearest?${query}`)
      if (!Array.isArray(stores))
        throw new LivePricingFailed('The supplier’s live pricing did not answer with a list of stores.')
      return stores.slice(0, MOST_STORES).map(shopOf)
    },

    /** An answer for each line, in their order. */
    async prices(supplier: string, items: PriceLine[], memberNumber: string): Promise<PriceAnswer[]> {
      const body = JSON.stringify({ ...(memberNumber && { memberNumber }), items })
      const headers = { 'content-type': 'application/json' }
      const answers = await call(supplier, 'prices', '/request-prices', { method: 'POST', body, headers })
      if (!Array.isArray(answers) || answers.length !== items.length)
        throw new LivePricingFailed('The supplier’s live pricing did not answer every item.')
      return answers.map((answer, at) => answerOf(answer, items[at]))
    },
  }
}

/** The answer's text, as far as it is not endless. */
async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > MOST_TEXT) throw new Error('the answer is too long')
  }
  return text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An answer, if it is one to this line and adds up; otherwise what is wrong with it. */
function answerOf(answer: unknown, line: PriceLine | undefined): PriceAnswer {
  const none = (errorCode: string | undefined, errorMessage: string): PriceAnswer => ({
    ...{ unitPrice: null, discount: null, totalPrice: null, errorCode, errorMessage },
  })
  if (typeof answer !== 'object' || answer === null)
    return none(undefined, 'The supplier’s answer is no price.')
  const given = answer as Record<string, unknown>
  const text = (name: string) => (typeof given[name] === 'string' ? (given[name] as string) : '')
  const amounts = [given.unitPrice, given.discount, given.totalPrice]
  if (amounts.every((amount) => amount == null))
    return none(
      text('errorCode') || undefined,
      text('errorMessage') || 'The supplier gives no price and no reason.',
    )
  if (given.itemId !== line?.itemId || given.storeId !== line?.storeId)
    return none(undefined, 'The supplier answers for another item or store.')
  const [unitPrice = 0, discount = 0, totalPrice = 0] = amounts.map((amount) =>
    typeof amount === 'number' ? amount : Number.NaN,
  )
  const right = unitPrice * (line?.quantity ?? 0) - discount
  // Less than a tenth of a cent is rounding.
  if (!(Math.abs(right - totalPrice) < 0.001)) return none(undefined, 'The supplier’s price does not add up.')
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

function shopOf(store: StoreAnswer | null): Shop {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const id = text(store?.id)
  if (id === '')
    throw new LivePricingFailed('The supplier’s live pricing answered with a store without an id.')
  return {
    ...{ id, name: text(store?.name) || id, suburb: text(store?.address?.suburb) },
    distance: typeof store?.distance === 'number' ? store.distance : undefined,
    today: todayAt(store?.tradingHours),
  }
}

/** Today's openings at a store, where it is. */
function todayAt(hours: StoreAnswer['tradingHours'], now = new Date()): string {
  try {
    const { timeZone = 'UTC', dailyTradingHours = [], publicHolidays = [] } = hours ?? {}
    const date = now.toLocaleDateString('en-CA', { timeZone })
    const weekday = now.toLocaleDateString('en', { timeZone, weekday: 'long' })
    const holiday = publicHolidays.find((known) => known.date === date)
    const openings =
      holiday?.openingHours ?? dailyTradingHours.find(({ day }) => day === weekday)?.openingHours
    if (!openings) return ''
    const words = openings.map(({ opens, closes }) => `${opens} to ${closes}`).join(', ') || 'closed'
    return `${holiday ? `${holiday.name}` : 'today'}: ${words}`
  } catch {
    return ''
  }
}
