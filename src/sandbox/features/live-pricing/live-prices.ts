import type { Request } from 'express'
import { SAMPLE_SUPPLIER } from '../../accounts.ts'
import type { Journal } from '../../journal.ts'
import type { SandboxItem } from '../catalogues/generated.ts'
import { SAMPLE_MEMBERS } from '../catalogues/samples.ts'
import { LivePricingCallError, openLivePricing, type Registration } from './client.ts'
import { findPlace, PLACE_NAMES } from './places.ts'
import type { PriceAnswer, Shop } from './responses.ts'

export interface Row {
  item: SandboxItem
  quantity: string
  answer: PriceAnswer | undefined
  /** What the quantity costs at the catalogue's price, in dollars. */
  rrp: number | undefined
}

export interface LivePricesOptions {
  journal: Journal
  supplier: string
  registration: Registration | undefined
  items: SandboxItem[]
  memberNumber: string
}

/** The error code of an unknown member. Assumed: the specification defines no error codes. */
const UNKNOWN_MEMBER = 'member_unknown'
/** The most items that are priced at once. */
export const MAX_ITEMS = 50
const NUMBER = /^[+-]?\d+(\.\d+)?$/
const COORDINATES = /^([+-]?\d+(?:\.\d+)?)\s*,\s*([+-]?\d+(?:\.\d+)?)$/
const EMPTY_FORM = { address: '', radius: '25', store: '', member: '' }
type Form = typeof EMPTY_FORM

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim().slice(0, 200) : '')
const listOf = (value: unknown): string[] => [value ?? []].flat().map((one) => String(one).slice(0, 200))
const numberOf = (value: string): number => (NUMBER.test(value.trim()) ? Number(value) : Number.NaN)

/**
 * The data of the page of live prices: the picked items, the stores near a place, and the supplier's prices in the chosen
 * store. The form's fields are in the page's address, so that it can be bookmarked.
 */
export async function livePrices(
  { query }: Request,
  { journal, supplier, registration, items, memberNumber }: LivePricesOptions,
) {
  const form = readForm(query, memberNumber)
  const [codes, quantities] = [listOf(query.item), listOf(query.quantity)]
  const rows: Row[] = items.map((item) => ({
    item,
    quantity: quantities[codes.indexOf(item.code)] ?? '1',
    answer: undefined,
    rrp: undefined,
  }))
  const shown = (stores?: Shop[], problem?: string) => ({
    form,
    rows,
    stores,
    problem,
    places: PLACE_NAMES,
    isMemberUnknown: rows.some(({ answer }) => answer?.errorCode === UNKNOWN_MEMBER),
    members: supplier === SAMPLE_SUPPLIER ? SAMPLE_MEMBERS : [],
  })
  if (query.address === undefined) return shown()
  const place = readPlace(form)
  if (typeof place === 'string') return shown(undefined, place)

  try {
    const supply = await openLivePricing(registration, journal)
    const stores = await supply.nearest(place)
    if (!stores.some(({ id }) => id === form.store)) form.store = stores[0]?.id ?? ''
    if (form.store === '' || rows.length === 0) return shown(stores)
    // The supplier decides about an invalid quantity: it is an error of that item.
    const lines = rows.map(({ item, quantity }) => ({
      itemId: item.code,
      storeId: form.store,
      quantity: numberOf(quantity),
    }))
    const answers = await supply.prices(lines, form.member)
    for (const [index, row] of rows.entries()) {
      row.answer = answers[index]
      if (row.answer?.totalPrice != null) row.rrp = row.item.price * (lines[index]?.quantity ?? 0)
    }
    return shown(stores)
  } catch (error) {
    if (!(error instanceof LivePricingCallError)) throw error
    return shown(undefined, error.message)
  }
}

function readForm(query: Request['query'], memberNumber: string): Form {
  const form = { ...EMPTY_FORM, member: memberNumber }
  // The button of a suggested member number follows the field of the same name.
  for (const name of Object.keys(form) as (keyof Form)[])
    if (query[name] !== undefined) form[name] = textOf([query[name]].flat().at(-1))
  return form
}

/** The place to search near, or why the form does not give one. */
function readPlace({ address, radius: within }: Form) {
  if (address === '')
    return 'Enter an address or a suburb, such as Northcote, or a latitude and a longitude, such as -37.77, 145.'
  const [, ...degrees] = COORDINATES.exec(address) ?? []
  const [latitude = Number.NaN, longitude = Number.NaN] = degrees.map(Number)
  const place = degrees.length > 0 ? { latitude, longitude } : findPlace(address)
  if (!place)
    return `The sandbox does not know where that is. It knows ${PLACE_NAMES.join(', ')}; or enter a latitude and a longitude.`
  if (Math.abs(place.latitude) > 90 || Math.abs(place.longitude) > 180)
    return 'A latitude is from -90 to 90, and a longitude from -180 to 180.'
  const radius = numberOf(within)
  if (radius > 0 && radius <= 20_000) return { ...place, radius }
  return 'The distance is a number of kilometres above 0, up to 20,000.'
}

/** The totals of the priced rows, in dollars; undefined when there are none. */
export function sumOf(rows: Row[]) {
  const priced = rows.filter(({ answer }) => answer?.totalPrice != null)
  if (priced.length === 0) return undefined
  const sum = (amountOf: (row: Row) => number) => priced.reduce((total, row) => total + amountOf(row), 0)
  return {
    count: priced.length,
    of: rows.length,
    live: sum(({ answer }) => answer?.totalPrice ?? 0),
    rrp: sum(({ rrp }) => rrp ?? 0),
  }
}
