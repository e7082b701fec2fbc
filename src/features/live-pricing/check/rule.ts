import { randomUUID } from 'node:crypto'
import { NEAREST, PATHS } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'

/** A requirement of the live pricing API: `given` by the specification, or `assumed` where it is silent. */
export interface Rule {
  id: string
  /** The section of the specification. */
  section: string
  basis: 'given' | 'assumed'
  /** The requirement, as one sentence. */
  requirement: string
  /** Resolves to an exchange that proves the rule. Throws `RuleViolationError`, or `NotCheckedError` if undecidable. */
  check(subject: Subject): Promise<Exchange>
}

/** The implementation under test and the data to test it with. */
export interface Subject {
  probe: Probe
  /** Codes of items that have a price at the store. */
  items: string[]
  /** A store that sells them; by default, one found by the search. */
  storeId?: string
  /** A location with stores nearby; by default, several are tried. */
  near?: { latitude: number; longitude: number }
  memberNumber?: string
}

/** The implementation violates a rule, as `exchange` shows. */
export class RuleViolationError extends Error {
  readonly exchange: Exchange
  constructor(message: string, exchange: Exchange) {
    super(message)
    this.exchange = exchange
  }
}

/** A rule could not be checked. The message says what is needed. */
export class NotCheckedError extends Error {}

const NO_TOKEN = 'no access token was issued'
/** An id or code that does not exist. */
export const UNKNOWN_ID = randomUUID()

/** Point Nemo in the South Pacific, far from any store. */
export const REMOTE_PLACE = { latitude: -48.8767, longitude: -123.3933, radius: 1 }

/** The path and query of a store search. */
export const query = (place: Partial<Record<keyof typeof NEAREST, number | string>>) => {
  const named = Object.entries(place).map(([name, value]) => [
    NEAREST[name as keyof typeof NEAREST],
    String(value),
  ])
  return `${PATHS.nearest}?${new URLSearchParams(Object.fromEntries(named))}`
}
/** The path of a store. */
export const storePath = (id: string) => PATHS.store.replace('{id}', encodeURIComponent(id))
/** Whether a value is a JSON object. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws `RuleViolationError` if the status differs. `when`: the request, as the subject of the message. */
export function expectStatus(exchange: Exchange, status: number, when: string): void {
  if (exchange.status !== status)
    throw new RuleViolationError(
      `${when} must return ${status}, not ${exchange.status || exchange.text}.`,
      exchange,
    )
}

/** Returns the JSON array of a 200 response. Throws `RuleViolationError` otherwise. */
export function arrayOf(exchange: Exchange, when: string): unknown[] {
  expectStatus(exchange, 200, when)
  if (!Array.isArray(exchange.json))
    throw new RuleViolationError(`${when} must return a JSON array.`, exchange)
  return exchange.json
}

/** Calls a path with the token. Throws `NotCheckedError` if there is none. */
export async function withToken(probe: Probe, path: string, body?: unknown): Promise<Exchange> {
  const exchange = await probe.withToken(path, body)
  if (!exchange) throw new NotCheckedError(NO_TOKEN)
  return exchange
}
