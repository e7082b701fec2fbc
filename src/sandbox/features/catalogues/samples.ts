import * as z from 'zod'
import type { Sql } from '../../database.ts'
import { insertCatalogue } from './catalogues.ts'
import { createItems } from './items.ts'

const sampleSchema = z.object({
  id: z.string(),
  name: z.string(),
  items: z.array(z.looseObject({ code: z.string(), price: z.number() })),
})

/** Catalogues that are published from the start. */
export const samplesSchema = z.object({
  /** The sample of each supplier, by the supplier's bxcontext. */
  samples: z.record(z.string(), sampleSchema).default({}),
})

/** Adds the missing samples. */
export function addSamples(sql: Sql, { samples }: z.output<typeof samplesSchema>): void {
  for (const [bxcontext, sample] of Object.entries(samples)) publish(sql, bxcontext, sample)
}

function publish(sql: Sql, bxcontext: string, { id, name, items }: z.output<typeof sampleSchema>): void {
  if (sql.all('SELECT 1 FROM catalogues WHERE id = ?', id).length > 0) return
  const { put } = createItems(sql)
  const [itemCount, updatedAt] = [items.length, new Date().toISOString()]
  sql.transaction(() => {
    insertCatalogue(sql, bxcontext, { id, name, scope: 'Public', itemCount, updatedAt })
    const insert =
      "INSERT INTO imports (catalogue, batch_id, received, started_at, completes_at) VALUES (?, 'sample', ?, 0, 0)"
    sql.run(insert, id, itemCount)
    for (const item of items) put(id, item, 0)
  })
}
