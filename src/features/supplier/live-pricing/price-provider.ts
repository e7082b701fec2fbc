import type { ItemError, Store } from '../api/contract.ts'

/** An item to price. The quantity is a finite number above 0. */
export interface PriceLine {
  itemId: string
  storeId: string
  quantity: number
}

/**
 * Dollars: decimal text, such as `12.50` or `0.0835`, or a number, which counts as the shortest decimal that parses to it.
 * Any other value, such as `NaN`, text with a unit or an object, makes the line an error, because amounts must never be guessed.
 */
export type Amount = string | number

/** The price of an item for a member at a store. */
export interface Price {
  /** Per unit, before tax: 0 or more. */
  unitPrice: Amount
  /** For the whole quantity, at most its price; omit if there is no discount. */
  discount?: Amount | null | undefined
}

/** Why a line has no price. `message` overrides the default message of the error code. */
export interface NoPrice {
  error: ItemError
  message?: string
}

/** A failure of a price provider. Its message is logged, so it must not contain a secret. */
export class PriceProviderError extends Error {}

export interface Place {
  /** Degrees; south and west are negative. */
  latitude: number
  longitude: number
  radiusKm: number
}

export interface NearStore {
  store: Store
  /** Great-circle distance. */
  distanceKm: number
}

/**
 * A supplier's stores and prices. Implement this interface to connect the live pricing API to your ERP. The endpoints
 * validate the input, keep the order of the items, compute totals and convert failures to the responses required by the
 * specification. `csv-price-provider/price-list.ts` is an implementation.
 *
 * Fields that are not part of `Store` are not sent.
 *
 * If a method throws or takes longer than ten seconds, each valid line of a price request reports `price_unavailable`, and store
 * requests return 503. Callers never see the error; the log contains its type, its location and a `PriceProviderError`'s message.
 * `signal` is aborted after these ten seconds, or if the caller disconnects. Pass it to `fetch` or your database to stop the work.
 */
export interface PriceProvider {
  /** Returns the store with this id, or null. */
  store(id: string, signal: AbortSignal): Promise<Store | null>
  /** Returns at most `limit` stores within the radius, nearest first, or `[]`. */
  nearest(place: Place, limit: number, signal: AbortSignal): Promise<NearStore[]>
  /**
   * Returns a price, or the reason why there is none, for each line, in the same order. Lines may repeat. Without a
   * member number, returns public prices. With an unknown member number, returns `member_unknown` for each line, so
   * that public prices are not mistaken for the member's own.
   */
  prices(
    lines: readonly PriceLine[],
    memberNumber: string | null,
    signal: AbortSignal,
  ): Promise<(Price | NoPrice)[]>
  /** Whether prices are loaded, for `/live-pricing/health/ready`. Without this method, they count as loaded. */
  loaded?(): boolean
  /** Called when the app stops. */
  close?(): void
}
