import type * as z from 'zod'
import type { Sql } from '../../database.ts'

export type Registrations<T> = ReturnType<typeof createRegistrations<T>>

/** What suppliers register with the platform in Business setup: of each kind, such as a webhook, one value for each business. */
export function createRegistrations<T>(sql: Sql, kind: string, schema: z.ZodType<T>) {
  const where = 'WHERE kind = ? AND bxcontext = ?'
  return {
    find(bxcontext: string): T | undefined {
      const [row] = sql.all(`SELECT value FROM registrations ${where}`, kind, bxcontext)
      return row && schema.parse(JSON.parse(String(row.value)))
    },
    save(bxcontext: string, value: T): void {
      const json = JSON.stringify(value)
      sql.run('INSERT OR REPLACE INTO registrations VALUES (?, ?, ?)', kind, bxcontext, json)
    },
    remove(bxcontext: string): void {
      sql.run(`DELETE FROM registrations ${where}`, kind, bxcontext)
    },
  }
}
