import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'

const rowsOf = <Column extends string>(file: string): Record<Column, string>[] =>
  parse(readFileSync(new URL(file, import.meta.url)), { columns: true })

/** The sample supplier's items: all items with prices in its live pricing, and a few discontinued items. */
export const sampleItems = () =>
  rowsOf<'code' | 'name' | 'unit' | 'category' | 'price'>('summit-trade-range.csv').map((row) => ({
    ...row,
    price: Number(row.price),
  }))

/** The suburbs and towns that the sandbox can find without a map. */
export const PLACES = rowsOf<'name' | 'latitude' | 'longitude'>('places.csv')
