import type { Sql } from '../../database.ts'
import { generatedCatalogue, itemsOf, type SandboxItem } from './generated.ts'

export interface ItemSearch {
  search?: string
  after?: string
  top: number
}

/** The items of catalogues. Imported items replace the generated items of a sample catalogue. */
export function createItems(sql: Sql) {
  const insert = sql.prepare(`INSERT INTO items VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET item = excluded.item, import = excluded.import WHERE import <> excluded.import`)
  const update = sql.prepare('UPDATE items SET item = ? WHERE catalogue = ? AND code = ?')
  const count = (catalogue: string) =>
    Number(sql.all('SELECT count(*) AS n FROM items WHERE catalogue = ?', catalogue)[0]?.n)
  const generated = (id: string): SandboxItem[] => {
    const sample = generatedCatalogue(id)
    return sample ? itemsOf(sample) : []
  }

  return {
    count,
    /** Finds items whose code or name contains `search` and whose code comes after `after`, in the order of their codes. */
    search(catalogue: string, { search = '', after = '', top }: ItemSearch): SandboxItem[] {
      if (count(catalogue) === 0) {
        const text = search.toLowerCase()
        return generated(catalogue)
          .filter(({ code, name }) => code > after && `${code}\n${name}`.toLowerCase().includes(text))
          .slice(0, top)
      }
      const like = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
      const select = `SELECT item FROM items WHERE catalogue = ? AND code > ?
        AND (code LIKE ? ESCAPE '\\' OR json_extract(item, '$.name') LIKE ? ESCAPE '\\') ORDER BY code LIMIT ?`
      return sql.all(select, catalogue, after, like, like, top).map(read)
    },
    /** Returns the items with these codes, in the order of `codes`. Leaves out unknown codes. */
    byCode(catalogue: string, codes: string[]): SandboxItem[] {
      const samples = count(catalogue) > 0 ? [] : generated(catalogue)
      return codes.flatMap((code) => {
        const [row] = sql.all('SELECT item FROM items WHERE catalogue = ? AND code = ?', catalogue, code)
        return row ? read(row) : (samples.find((item) => item.code === code) ?? [])
      })
    },
    /** Stores an item. Returns whether its code is new in this import. */
    put(catalogue: string, item: SandboxItem, importNumber: number): boolean {
      const json = JSON.stringify(item)
      if (insert.run(catalogue, item.code, importNumber, json).changes === 1) return true
      update.run(json, catalogue, item.code)
      return false
    },
  }
}

const read = (row: Record<string, unknown>): SandboxItem => JSON.parse(String(row.item))
