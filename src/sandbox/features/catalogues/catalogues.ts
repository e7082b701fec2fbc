import { randomUUID } from 'node:crypto'
import type { Sql } from '../../database.ts'
import { cataloguesOf, generatedCatalogue, type SandboxCatalogue } from './generated.ts'
import { createItems } from './items.ts'

/** The stored catalogues, and the generated sample catalogues. */
export function createCatalogues(sql: Sql) {
  const items = createItems(sql)
  const created = (column: 'id' | 'bxcontext', value: string): SandboxCatalogue[] =>
    sql.all(`SELECT * FROM catalogues WHERE ${column} = ? ORDER BY number DESC`, value).map((row) => ({
      id: String(row.id),
      name: String(row.name),
      scope: row.scope as SandboxCatalogue['scope'],
      itemCount: items.count(String(row.id)),
      updatedAt: String(row.updated_at),
    }))

  return {
    /** Lists the catalogues of a business: first the stored catalogues, with the latest at the top, then the generated samples. */
    list: (bxcontext: string): SandboxCatalogue[] => [
      ...created('bxcontext', bxcontext),
      ...cataloguesOf(bxcontext),
    ],
    find(id: string): SandboxCatalogue | undefined {
      const [found] = created('id', id)
      if (found) return found
      const sample = generatedCatalogue(id)
      return sample && { ...sample, itemCount: items.count(id) || sample.itemCount }
    },
    /** Whether the catalogue belongs to the business. */
    isOwn(bxcontext: string, id: string): boolean {
      const [row] = sql.all('SELECT bxcontext FROM catalogues WHERE id = ?', id)
      return row ? row.bxcontext === bxcontext : cataloguesOf(bxcontext).some((sample) => sample.id === id)
    },
    create(bxcontext: string, name: string, scope: SandboxCatalogue['scope']): SandboxCatalogue {
      const id = randomUUID()
      const catalogue = { id, name, scope, itemCount: 0, updatedAt: new Date().toISOString() }
      insertCatalogue(sql, bxcontext, catalogue)
      return catalogue
    },
    /** Whether builders may pick items (specification 1.2): an import has succeeded, or it is a sample without imports. */
    isPublished(id: string): boolean {
      const imports = sql.all('SELECT completes_at, ended FROM imports WHERE catalogue = ?', id)
      if (imports.length === 0) return generatedCatalogue(id) !== undefined
      return imports.some(
        (row) =>
          row.ended !== 'Failed' && row.completes_at !== null && Number(row.completes_at) <= Date.now(),
      )
    },
  }
}

export function insertCatalogue(sql: Sql, bxcontext: string, catalogue: SandboxCatalogue): void {
  const { id, name, scope, updatedAt } = catalogue
  const insert = 'INSERT INTO catalogues (id, bxcontext, name, scope, updated_at) VALUES (?, ?, ?, ?, ?)'
  sql.run(insert, id, bxcontext, name, scope, updatedAt)
}
