import type { DatabaseSync } from 'node:sqlite'
import { createItemIndex } from './item-index.ts'

/** The table for the pages of the items. */
export const ITEM_SCHEMA = 'CREATE TABLE item_pages (number INTEGER PRIMARY KEY, page BLOB NOT NULL) STRICT;'

/** Writes the items of a price list. */
export function writeItems(db: DatabaseSync, pages: readonly Buffer[]): void {
  const add = db.prepare('INSERT INTO item_pages (page) VALUES (?)')
  for (const page of pages) add.run(page)
}

/** Reads the items of a price list. */
export function readItems(db: DatabaseSync): Buffer[] {
  const rows = db.prepare('SELECT page FROM item_pages ORDER BY number').iterate()
  return Array.from(rows, (row) => {
    const { buffer, byteOffset, length } = row.page as Uint8Array
    return Buffer.from(buffer, byteOffset, length)
  })
}

/** Reads the items of a price list of version 1, which had a table of them. It takes about a second a million items. */
export function readItemTable(db: DatabaseSync): Buffer[] {
  const index = createItemIndex()
  const select = db.prepare('SELECT code, price, category, more FROM items')
  select.setReturnArrays(true)
  const rows = select.iterate() as unknown as Iterable<[string, string | null, number | null, number]>
  for (const [code, price, category, flags] of rows) index.add(code, { price, category, flags })
  return index.pages()
}
