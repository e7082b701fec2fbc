import type { Sql } from '../../database.ts'
import { generatedCatalogue, itemsOf, type SandboxItem } from './generated.ts'

/** Items of catalogues. A sample catalogue's own items are replaced by imported ones. */
export function createItems(sql: Sql) {
  const insert = sql.prepare(`INSERT INTO items VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET item = excluded.item, import = excluded.import WHERE import <> excluded.import`)
  const update = sql.prepare('UPDATE items SET item = ? WHERE catalogue = ? AND code = ?')
  const count = (catalogue: string) =>
    Number(sql.all('SELECT count(*) AS n FROM items WHERE catalogue = ?', catalogue)[0]?.n)
  const generated = (id: string, top = Number.MAX_SAFE_INTEGER): SandboxItem[] => {
    const sample = generatedCatalogue(id)
    return sample ? itemsOf(sample, top) : []
  }
  /** Items after a code, in the order of their codes. */
  const list = (catalogue: string, after: string, top: number): SandboxItem[] => {
    const query = 'SELECT item FROM items WHERE catalogue = ? AND code > ? ORDER BY code LIMIT ?'
    const rows = sql.all(query, catalogue, after, top)
    return rows.length > 0 || after !== '' ? rows.map(read) : generated(catalogue, top)
  }

  return {
    count,
    list,
    /** Items whose code or name contains the text, after a code, in the order of their codes. */
    search(
      catalogue: string,
      { search, after, top }: { search: string; after: string; top: number },
    ): SandboxItem[] {
      if (search === '' && after === '') return list(catalogue, '', top)
      const like = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
      const rows = sql.all(
        `SELECT item FROM items WHERE catalogue = ? AND code > ?
          AND (code LIKE ? ESCAPE '\\' OR json_extract(item, '$.name') LIKE ? ESCAPE '\\') ORDER BY code LIMIT ?`,
        catalogue,
        after,
        like,
        like,
        top,
      )
      if (rows.length > 0 || count(catalogue) > 0) return rows.map(read)
      const text = search.toLowerCase()
      return generated(catalogue)
        .filter(({ code, name }) => code > after && `${code}\n${name}`.toLowerCase().includes(text))
        .slice(0, top)
    },
    /** The items with these codes, in the order of the codes; unknown codes are left out. */
    byCode(catalogue: string, codes: string[]): SandboxItem[] {
      const samples = count(catalogue) > 0 ? [] : generated(catalogue)
      return codes.flatMap((code) => {
        const [row] = sql.all('SELECT item FROM items WHERE catalogue = ? AND code = ?', catalogue, code)
        return row ? read(row) : (samples.find((item) => item.code === code) ?? [])
      })
    },
    /** Stores an item; true when this import had not stored its code before. */
    put(catalogue: string, item: SandboxItem, importNumber: number): boolean {
      const json = JSON.stringify(item)
      if (insert.run(catalogue, item.code, importNumber, json).changes === 1) return true
      update.run(json, catalogue, item.code)
      return false
    },
  }
}

const read = (row: Record<string, unknown>): SandboxItem => JSON.parse(String(row.item))
