/** An item of a catalogue, in a file and in an upload, and the limits of a file. */

/** assumed: the fields of an item. Codes are unique within a catalogue, regardless of case. */
export interface Item {
  code: string
  /** Recommended retail price for one unit, in dollars before tax. */
  price: number
  name?: string
  description?: string
  unit?: string
  category?: string
}

/** The columns of the template: the fields of an item. */
export const REQUIRED = ['code', 'price'] as const
export const OPTIONAL = ['name', 'description', 'unit', 'category'] as const
export const COLUMNS = [...REQUIRED, ...OPTIONAL] as const
export type Column = (typeof COLUMNS)[number]

/** The limits of a file. The length of a line is in characters; all other limits are counts. */
export const BOUNDS = {
  bytes: 20_000_000,
  items: 100_000,
  lines: 200_000,
  lineLength: 64_000,
  cells: 100,
} as const

/** The key of a code, which ignores case. */
export const keyOf = (code: string): string => code.toLowerCase()
