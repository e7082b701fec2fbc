import type { Request } from 'express'
import { type LivePricingCaller, LivePricingFailed, type PriceAnswer, type Shop } from './live-pricing.ts'
import { findPlace, PLACE_NAMES } from './places.ts'
import type { SandboxItem } from './records.ts'

export interface Row {
  item: SandboxItem
  quantity: string
  answer: PriceAnswer | undefined
  /** What the quantity costs by the catalogue, in dollars. */
  rrp: number | undefined
}

/** What is priced at once. */
export const MOST_ITEMS = 50
const NUMBER = /^[+-]?\d+(\.\d+)?$/
const USUAL = { address: '', latitude: '', longitude: '', radius: '25' }

const text = (value: unknown): string => (typeof value === 'string' ? value.trim().slice(0, 200) : '')
const list = (value: unknown): string[] => [value ?? []].flat().map((one) => String(one).slice(0, 200))

const numberOf = (value: string): number => (NUMBER.test(value.trim()) ? Number(value) : Number.NaN)

/** The codes that a builder has picked, each once. */
export const pickedCodes = ({ query }: Request): string[] => [...new Set(list(query.item))]

/**
 * What the page of live prices shows: the picked items, the stores around a place, and, when a store is chosen, the
 * supplier's prices. The form's fields are the address of the page, so that it can be kept and gone back to.
 */
export async function livePrices(
  { query }: Request,
  {
    caller,
    supplier,
    items,
    memberNumber,
  }: { caller: LivePricingCaller; supplier: string; items: SandboxItem[]; memberNumber: string },
) {
  const form = { ...USUAL, store: '', member: memberNumber }
  for (const name of Object.keys(form) as (keyof typeof form)[])
    if (query[name] !== undefined) form[name] = text(query[name])
  const [codes, quantities] = [list(query.item), list(query.quantity)]
  const rows: Row[] = items.map((item) => ({
    ...{ item, quantity: quantities[codes.indexOf(item.code)] ?? '1', answer: undefined, rrp: undefined },
  }))
  const failed = (problem: string) => ({
    form,
    rows,
    stores: undefined as Shop[] | undefined,
    problem,
    places: PLACE_NAMES,
  })
  if (form.address === '' && form.latitude === '' && form.longitude === '')
    return { ...failed(''), problem: undefined }

  if (form.address !== '' && (form.latitude !== '' || form.longitude !== ''))
    return failed('Give an address, or a latitude and a longitude, and not both.')
  const found = form.address === '' ? undefined : findPlace(form.address)
  if (form.address !== '' && !found)
    return failed(
      `The sandbox does not know where that is. It knows ${PLACE_NAMES.join(', ')}; or give latitude and longitude.`,
    )
  const place = {
    latitude: found?.latitude ?? numberOf(form.latitude),
    longitude: found?.longitude ?? numberOf(form.longitude),
    radius: numberOf(form.radius),
  }
  if (!(Math.abs(place.latitude) <= 90) || !(Math.abs(place.longitude) <= 180))
    return failed('Both are needed: a latitude from -90 to 90, and a longitude from -180 to 180.')
  if (!(place.radius > 0 && place.radius <= 20_000))
    return failed('The distance is a number of kilometres above 0, up to 20,000.')

  try {
    const stores = await caller.nearest(supplier, place)
    if (!stores.some(({ id }) => id === form.store)) form.store = stores[0]?.id ?? ''
    if (form.store !== '' && rows.length > 0) await price(rows)
    return { ...failed(''), problem: undefined, stores }
  } catch (error) {
    if (!(error instanceof LivePricingFailed)) throw error
    return failed(error.message)
  }

  async function price(rows: Row[]): Promise<void> {
    // What is no number is for the supplier to say: it is an error of that item.
    const lines = rows.map(({ item, quantity }) => ({
      itemId: item.code,
      storeId: form.store,
      quantity: numberOf(quantity),
    }))
    const answers = await caller.prices(supplier, lines, form.member)
    for (const [at, row] of rows.entries()) {
      row.answer = answers[at]
      const quantity = lines[at]?.quantity ?? 0
      if (row.answer?.totalPrice != null) row.rrp = row.item.price * quantity
    }
  }
}

/** The sums of what was priced, in dollars; undefined when nothing was. */
export function sumOf(rows: Row[]) {
  const priced = rows.filter(({ answer }) => answer?.totalPrice != null)
  if (priced.length === 0) return undefined
  const sum = (of: (row: Row) => number) => priced.reduce((total, row) => total + of(row), 0)
  return {
    ...{ count: priced.length, of: rows.length },
    ...{ live: sum(({ answer }) => answer?.totalPrice ?? 0), rrp: sum(({ rrp }) => rrp ?? 0) },
    discount: sum(({ answer }) => answer?.discount ?? 0),
  }
}
