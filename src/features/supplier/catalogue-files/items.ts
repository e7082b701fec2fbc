/** An item of a catalogue as a file gives it and the platform receives it, and how much a file may contain. */

/** assumed: the fields of an item. Codes are unique within a catalogue; capitals don't count. */
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

/** How much a file may contain. A line is measured in characters, everything else is counted. */
export const BOUNDS = {
  bytes: 20_000_000,
  items: 100_000,
  lines: 200_000,
  lineLength: 64_000,
  cells: 100,
} as const

/** The same for all spellings of a code, because capitals don't count. */
export const keyOf = (code: string): string => code.toLowerCase()
