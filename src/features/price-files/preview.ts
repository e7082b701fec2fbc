import type { Item } from './item.ts'

/** An item as it will be sent, and the row that it comes from. */
export interface PreviewRow {
  /** The sheet; empty for text. */
  sheet: string
  line: number
  item: Item
  cells: string[]
}

/** How many of each kind are shown, ten altogether. */
const [FIRST, LAST, DEAREST] = [4, 3, 2]

/**
 * Chooses ten rows for a person to look at: the first and the last ones, the dearest two and the cheapest one, because a total
 * at the end or a price of several units shows there.
 */
export function createPreview() {
  const first: PreviewRow[] = []
  const last: PreviewRow[] = []
  let dearest: PreviewRow[] = []
  let cheapest: PreviewRow | undefined
  return {
    add(row: PreviewRow): void {
      if (first.length < FIRST) first.push(row)
      last.push(row)
      if (last.length > LAST) last.shift()
      if (row.item.price < (cheapest?.item.price ?? Number.POSITIVE_INFINITY)) cheapest = row
      if (dearest.length < DEAREST || row.item.price > (dearest.at(-1)?.item.price ?? 0))
        dearest = [...dearest, row].sort((a, b) => b.item.price - a.item.price).slice(0, DEAREST)
    },
    /** The rows in the order of the file, without the items with these codes. */
    rows(except: ReadonlySet<string>): PreviewRow[] {
      const chosen = new Set([...first, ...dearest, ...(cheapest ? [cheapest] : []), ...last])
      return [...chosen].filter(({ item }) => !except.has(item.code))
    },
  }
}
