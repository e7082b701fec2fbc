import type { Sql } from '../../../database.ts'
import type { SandboxItem } from '../../catalogues/generated.ts'
import { createItems } from '../../catalogues/items.ts'

export interface ImportTiming {
  /** How many items the platform processes per second. */
  itemsPerSecond: number
  /** How long an import waits for further uploads before it is completed, in ms. */
  settleMs: number
}

export interface SandboxImport {
  batchId: string
  status: 'Started' | 'Processing' | 'Completed' | 'Failed'
  itemsReceived: number
  itemsProcessed: number
  message?: string
}

/** Imports into catalogues. The progress of an import is computed from the time. */
export function createImports(sql: Sql, { itemsPerSecond, settleMs }: ImportTiming) {
  const items = createItems(sql)
  const rowOf = (catalogue: string, batchId: string) =>
    sql.all('SELECT * FROM imports WHERE catalogue = ? AND batch_id = ?', catalogue, batchId)[0]

  return {
    /** Returns false if the batch id is in use. */
    start: (catalogue: string, batchId: string): boolean =>
      sql.run(
        'INSERT OR IGNORE INTO imports (catalogue, batch_id, received, started_at) VALUES (?, ?, 0, ?)',
        catalogue,
        batchId,
        Date.now(),
      ).changes === 1,

    /** Stores the items, each code once. `ended`: the job was already reported as ended, and accepts no more items. */
    add(catalogue: string, batchId: string, uploaded: SandboxItem[]): 'added' | 'unknown' | 'ended' {
      const row = rowOf(catalogue, batchId)
      if (!row) return 'unknown'
      if (row.ended) return 'ended'
      sql.transaction(() => {
        const number = Number(row.number)
        let received = Number(row.received)
        for (const item of uploaded) if (items.put(catalogue, item, number)) received++
        const now = Date.now()
        const startedAt = row.received === 0 ? now : Number(row.started_at)
        const processedAt = startedAt + Math.ceil((received * 1000) / itemsPerSecond)
        const completesAt = received === 0 ? null : Math.max(processedAt, now + settleMs)
        sql.run(
          'UPDATE imports SET received = ?, started_at = ?, completes_at = ? WHERE number = ?',
          received,
          startedAt,
          completesAt,
          number,
        )
        sql.run('UPDATE catalogues SET updated_at = ? WHERE id = ?', new Date(now).toISOString(), catalogue)
      })
      return 'added'
    },

    /** The current state of an import. Before it counts as completed, calls `fails` to find out whether it fails instead. */
    state(catalogue: string, batchId: string, fails: () => boolean): SandboxImport | undefined {
      const row = rowOf(catalogue, batchId)
      if (!row) return undefined
      const now = Date.now()
      const itemsReceived = Number(row.received)
      const isProcessed = row.completes_at !== null && now >= Number(row.completes_at)
      const processed = Math.floor((now - Number(row.started_at)) * (itemsPerSecond / 1000))
      const itemsProcessed = isProcessed ? itemsReceived : Math.min(itemsReceived, processed)
      const counts = { batchId, itemsReceived, itemsProcessed }
      if (row.completes_at === null) return { ...counts, status: 'Started' }
      if (!isProcessed) return { ...counts, status: 'Processing' }
      const ended = String(row.ended ?? (fails() ? 'Failed' : 'Completed'))
      sql.run('UPDATE imports SET ended = ? WHERE number = ?', ended, Number(row.number))
      if (ended === 'Completed') return { ...counts, status: ended }
      const message = 'The import was stopped by an internal fault of the platform.'
      return { ...counts, status: 'Failed', message }
    },
  }
}
