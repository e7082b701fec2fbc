import { randomUUID } from 'node:crypto'
import type { SupplierClient } from './client.ts'
import type { Coordinates } from './geography.ts'
import type { Exchange } from './http.ts'

/** A rule that the supplier integration specification gives. */
export interface Rule {
  /** The section of the specification that gives it, such as `2.1`, and the rule as a sentence. */
  given: readonly [section: string, sentence: string]
  /** Rules that must be proven first. If one is not, this rule is unproven: one cause has one finding. */
  needs?: readonly string[]
  /** Resolves to an exchange that proves the rule. Throws `WrongError`, or `UnprovenError` if that cannot be decided. */
  check(supplier: Supplier): Promise<Exchange>
}

/** Rules by their ids, in the order in which they are checked. */
export type Rules = Readonly<Record<string, Rule>>

/** The implementation to check, and what is known about it. */
export interface Supplier {
  client: SupplierClient
  known: Known
}

/** What the person who runs the check knows about the supplier. */
export interface Known {
  /** What items cost without a member number. */
  prices: readonly NamedPrice[]
  /** What items cost members. */
  memberPrices: readonly NamedPrice[]
  /** The store of these prices; by default, one that the search finds. */
  storeId: string | undefined
  /** A place with stores nearby; by default, several are tried. */
  near: Coordinates | undefined
  /** Items that exist, each with a store that does not sell it. */
  notInRange: readonly { itemId: string; storeId: string }[]
  /** How long the check may wait for the end of a token, in ms. */
  waitMs: number
}

/** A true price: what one unit costs, in dollars before tax, after every discount. */
export interface NamedPrice {
  code: string
  price: number
  /** How far an answer may be from it, in dollars: half of its last digit, at most half a cent. */
  tolerance: number
  /** The member whose price it is; undefined for the price without a member number. */
  memberNumber: string | undefined
}

/** An id or code that does not exist. */
export const UNKNOWN_ID = randomUUID()

/** Makes a function that reads something about a supplier once, and then returns the same result. */
export function remember<T>(read: (supplier: Supplier) => Promise<T>): (supplier: Supplier) => Promise<T> {
  const known = new WeakMap<Supplier, Promise<T>>()
  return (supplier) => {
    const result = known.get(supplier) ?? read(supplier)
    known.set(supplier, result)
    return result
  }
}
