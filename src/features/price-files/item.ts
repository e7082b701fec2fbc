/**
 * The items that the platform takes: a part of contract.ts that imports nothing, because every check of a price file
 * loads it in a process of its own.
 */

/** given 8: maximum number of items per upload. */
export const MAX_BATCH = 1000

/** assumed: limits of an item's fields, in characters and dollars; codes are unique within a catalogue. */
export const ITEM_LIMITS = { code: 100, text: 2000, price: 1e9 } as const
export interface Item {
  code: string
  name?: string
  description?: string
  unit?: string
  category?: string
  /** Recommended retail price per unit, in dollars before tax. */
  price: number
}

/** assumed: the body of an upload. */
export const itemsBody = (items: readonly Item[]) => JSON.stringify({ items })
