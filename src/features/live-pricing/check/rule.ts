import { randomUUID } from 'node:crypto'
import { NEAREST, PATHS } from '../contract.ts'
import type { Exchange, Probe } from './probe.ts'

/** What a supplier's implementation must do; `given` by the specification, or `assumed` where it shows nothing. */
export interface Rule {
  id: string
  /** The section of the specification. */
  section: string
  basis: 'given' | 'assumed'
  says: string
  /** Resolves to the exchange that shows it. Throws `Broken`, and `Unchecked` when it cannot be told. */
  check(subject: Subject): Promise<Exchange>
}

/** What is checked, and with what. */
export interface Subject {
  probe: Probe
  /** Codes of items that have a price at the store. */
  items: string[]
  /** A store that carries them; otherwise one that the search finds. */
  storeId?: string
  /** A place with stores around it; otherwise several are tried. */
  near?: { latitude: number; longitude: number }
  memberNumber?: string
}

/** A rule is broken: in words, and the exchange that shows it. */
export class Broken extends Error {
  readonly exchange: Exchange
  constructor(message: string, exchange: Exchange) {
    super(message)
    this.exchange = exchange
  }
}

/** A rule could not be checked, and what would help. */
export class Unchecked extends Error {}

const NO_TOKEN = 'there is no access token'
/** An id or a code that nothing has. */
export const MADE_UP = randomUUID()

/** Far from any shop: in the South Pacific, at Point Nemo. */
export const NOWHERE = { latitude: -48.8767, longitude: -123.3933, radius: 1 }

/** The address of a search for stores. */
export const query = (place: Partial<Record<keyof typeof NEAREST, number | string>>) => {
  const named = Object.entries(place).map(([name, value]) => [
    NEAREST[name as keyof typeof NEAREST],
    String(value),
  ])
  return `${PATHS.nearest}?${new URLSearchParams(Object.fromEntries(named))}`
}
/** The address of a store. */
export const storePath = (id: string) => PATHS.store.replace('{id}', encodeURIComponent(id))
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function expectStatus(exchange: Exchange, status: number, when: string): void {
  if (exchange.status !== status)
    throw new Broken(`${when} must be answered ${status}, not ${exchange.status || exchange.text}.`, exchange)
}

export function arrayOf(exchange: Exchange, when: string): unknown[] {
  expectStatus(exchange, 200, when)
  if (!Array.isArray(exchange.json)) throw new Broken(`${when} must be answered with a JSON array.`, exchange)
  return exchange.json
}

export async function withToken(probe: Probe, path: string, body?: unknown): Promise<Exchange> {
  const exchange = await probe.withToken(path, body)
  if (!exchange) throw new Unchecked(NO_TOKEN)
  return exchange
}
