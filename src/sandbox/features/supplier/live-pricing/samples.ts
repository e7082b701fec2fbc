import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'

const rowsOf = <Column extends string>(file: string): Record<Column, string>[] =>
  parse(readFileSync(new URL(file, import.meta.url)), { columns: true })

/** The items of the sample supplier's catalogue: all that its live pricing has prices for, and a few discontinued ones. */
export const sampleItems = () =>
  rowsOf<'code' | 'name' | 'unit' | 'category' | 'price'>('summit-trade-range.csv').map((row) => ({
    ...row,
    price: Number(row.price),
  }))

/** The suburbs and towns that the sandbox can find, as it has no map. */
export const PLACES = rowsOf<'name' | 'latitude' | 'longitude'>('places.csv')
