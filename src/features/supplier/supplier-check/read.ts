/**
 * Reads answers whose fields the specification does not name. The assumptions here only help to understand an answer: one that
 * cannot be understood leaves a rule unproven, not wrong.
 */
import type { Coordinates } from './geography.ts'
import { type Exchange, isSuccess } from './http.ts'

/** What the check assumes where the specification shows no names, as sentences. */
export const ASSUMPTIONS = [
  'A token request is a form; or JSON, if a form is not accepted.',
  'The token is the field access_token of its response, or else the longest text.',
  'A call sends the token as Authorization: Bearer.',
  'A search has the parameters latitude, longitude and radius.',
  'A store has its identifier in id or a similar name, and its place in latitude and longitude or similar names.',
  'A price request is {memberNumber, items: [{itemId, storeId, quantity}]}.',
  'The answer to a line is the one that repeats its values, or else the one at its position.',
  'The error code and the error message of a line are texts that lines with a price do not have, under any names.',
] as const

type Json = Record<string, unknown>

/** Whether a value is a JSON object. */
export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/** An access token and the token request that it comes from. */
export interface Token {
  value: string
  exchange: Exchange
  /** Its lifetime in seconds; infinite if the response does not say one. */
  expiresIn: number
}

/** The token in a token response, as a list, which is empty if there is none. */
export function readTokens(exchange: Exchange): Token[] {
  const value = tokenIn(exchange.json)
  const seconds = isRecord(exchange.json) ? Number(exchange.json.expires_in) : Number.NaN
  const expiresIn = seconds > 0 ? seconds : Number.POSITIVE_INFINITY
  return value === undefined || !isSuccess(exchange) ? [] : [{ value, exchange, expiresIn }]
}

function tokenIn(json: unknown): string | undefined {
  if (!isRecord(json)) return undefined
  const { access_token: named, ...others } = json
  if (isText(named)) return named
  const texts = Object.values(others).filter((value) => isText(value) && !/^(bearer|\d*)$/i.test(value))
  return texts.filter(isText).sort((a, b) => b.length - a.length)[0]
}

/** What may be secret in the response to a token request that succeeded: its longer texts, or all of it. */
export function secretsIn(exchange: Exchange): string[] {
  const { json, text } = exchange
  const texts = isRecord(json) ? Object.values(json).filter(isText) : [text, String(json)]
  return isSuccess(exchange) ? texts.filter((value) => value === tokenIn(json) || value.length > 11) : []
}

/** What could be read of a store in an answer. */
export interface FoundStore {
  id: StoreId | undefined
  at: Coordinates | undefined
}

/** The stores in the answer to a search; none if it is not an array. */
export function readStores({ status, json }: Exchange): FoundStore[] {
  const found: unknown[] = status === 200 && Array.isArray(json) ? json : []
  return found.map((store) => ({ id: idOf(store), at: coordinatesOf(store) }))
}

/** The id of a store; undefined if no field looks like one. */
export function idOf(store: unknown): StoreId | undefined {
  if (!isRecord(store)) return undefined
  const id = fieldOf(store, ['id', 'storeid', 'identifier', 'storenumber', 'storecode'])
  return isText(id) || typeof id === 'number' ? id : undefined
}

/** The coordinates of a store, in the store or in an object of it; undefined if there are none. */
export function coordinatesOf(store: unknown): Coordinates | undefined {
  if (!isRecord(store)) return undefined
  for (const json of [store, ...Object.values(store).filter(isRecord)]) {
    const latitude = degrees(fieldOf(json, ['latitude', 'lat']), 90)
    const longitude = degrees(fieldOf(json, ['longitude', 'lng', 'lon', 'long']), 180)
    if (latitude !== undefined && longitude !== undefined) return { latitude, longitude }
  }
  return undefined
}

function degrees(value: unknown, most: number): number | undefined {
  const number = isText(value) ? Number(value) : value
  return typeof number === 'number' && Math.abs(number) <= most ? number : undefined
}

/** A value by the name of its field, in any letter case and with or without separators. */
function fieldOf(json: Json, names: readonly string[]): unknown {
  const plain = new Map(Object.keys(json).map((name) => [name.toLowerCase().replaceAll(/[_-]/g, ''), name]))
  return names.map((name) => json[plain.get(name) ?? name]).find((value) => value !== undefined)
}

export type StoreId = string | number

/** A line of a price request. */
export interface Line {
  itemId: string
  storeId: StoreId
  quantity: number
}

/** A line with its answer. */
export interface AnsweredLine {
  line: Line
  answer: Json
  exchange: Exchange
}

/** The amounts of a line, by their names in the specification (2.4). */
export const AMOUNTS = ['unitPrice', 'discount', 'totalPrice'] as const

/** The amounts of an answer, if it has a price: a unit price and a total. */
export function amountsOf({ unitPrice, discount, totalPrice }: Json) {
  if (typeof unitPrice !== 'number' || typeof totalPrice !== 'number') return undefined
  return { unitPrice, discount: typeof discount === 'number' ? discount : 0, totalPrice }
}

/** The price of one item, from the answer to a line for one: `unitPrice - discount`. Undefined if there is no price. */
export function costOf({ answer }: AnsweredLine): number | undefined {
  const amounts = amountsOf(answer)
  return amounts && amounts.unitPrice - amounts.discount
}

/** The answers to a price request, each with its line; none if they are not as many objects as lines. */
export function readAnswers(exchange: Exchange, lines: readonly Line[]): AnsweredLine[] {
  const { status, json } = exchange
  const answers: unknown[] = status === 200 && Array.isArray(json) ? json : []
  const left = answers.filter(isRecord)
  if (left.length !== lines.length || answers.length !== lines.length) return []
  const inOrder = lines.map((line, index) => ({ line, answer: left[index] ?? {}, exchange }))
  const repeated = lines.flatMap((line) => {
    const exact = left.findIndex((answer) => repeats(answer, line))
    const index = exact < 0 ? left.findIndex((answer) => repeats(answer, { itemId: line.itemId })) : exact
    return left.splice(index < 0 ? left.length : index, 1).map((answer) => ({ line, answer, exchange }))
  })
  return repeated.length === lines.length ? repeated : inOrder
}

/** Whether an answer repeats these values of a line, as texts or numbers, under their names or else in any field. */
function repeats(answer: Json, line: Partial<Line>): boolean {
  const { unitPrice: _u, discount: _d, totalPrice: _t, ...others } = answer
  const own = (name: string) => (name in answer ? [answer[name]] : Object.values(others)).map(String)
  return Object.entries(line).every(([name, value]) => own(name).includes(String(value)))
}

/** The texts of an answer at any depth, each with its path, but for those that repeat its line. */
export function textsOf({ line, answer }: AnsweredLine): string[] {
  const own = [line.itemId, line.storeId, line.quantity].map(String)
  return leavesOf(answer, '').flatMap(({ path, value }) =>
    isText(value) && !own.includes(value) ? [`${path}=${value}`] : [],
  )
}

function leavesOf(value: unknown, path: string): { path: string; value: unknown }[] {
  if (!isRecord(value) && !Array.isArray(value)) return [{ path, value }]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`))
}
