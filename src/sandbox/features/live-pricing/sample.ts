import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'

const FILE = new URL('summit-trade-range.csv', import.meta.url)

/** The items of the sample supplier's catalogue: all that its live pricing has prices for, and a few discontinued ones. */
export function sampleItems() {
  const rows: { code: string; name: string; unit: string; category: string; price: string }[] = parse(
    readFileSync(FILE),
    { columns: true },
  )
  return rows.map((row) => ({ ...row, price: Number(row.price) }))
}
