import type { ItemError, Store } from './contract.ts'

/** One item to be priced: the quantity is a finite number above 0. */
export interface PriceLine {
  itemId: string
  storeId: string
  quantity: number
}

/** What an item costs a member at a store. Both are dollars as decimal text, such as `12.50` or `0.0835`. */
export interface Price {
  /** Before tax, for one unit: 0 or more. */
  unitPrice: string
  /** For the whole quantity, at most the price of it; left out when there is none. */
  discount?: string
}

/** Why a line has no price. `message` replaces the usual words of the code. */
export interface NoPrice {
  error: ItemError
  message?: string
}

export interface Place {
  /** Degrees; south and west are negative. */
  latitude: number
  longitude: number
  radiusKm: number
}

export interface NearStore {
  store: Store
  /** Along the surface of the Earth. */
  distanceKm: number
}

/**
 * A supplier's prices and stores: what stands behind the four endpoints. This is all that you implement to put them over
 * an ERP; the endpoints check the input, keep the order, compute totals exactly, and turn what fails into the answers
 * that the specification asks for. `csv-price-provider/price-list.ts` is one implementation.
 *
 * A Store may be an object that you keep and change; one that you freeze is written as JSON only once. What it has beside
 * the fields of a Store is not answered.
 *
 * A method may throw, or take longer than ten seconds: the lines of a price request then become `price_unavailable`, and
 * a search for stores answers 503. Nothing of an error's text is told to the caller.
 */
export interface PriceProvider {
  /** The store of this id, or null. */
  store(id: string): Promise<Store | null>
  /** At most `limit` stores within the radius, the nearest first; `[]` when there is none. */
  nearest(place: Place, limit: number): Promise<NearStore[]>
  /**
   * A price, or the reason for none, for each line: as many as there are lines, and in their order. The same line may
   * occur twice. Without a member number, the prices that anybody gets; an unknown one makes each line
   * `member_unknown`, so that nobody takes public prices for their own.
   */
  prices(lines: readonly PriceLine[], memberNumber: string | null): Promise<(Price | NoPrice)[]>
}
