import { randomUUID } from 'node:crypto'
import type { Sql } from './database.ts'
import { cataloguesOf, itemsOf, type SandboxCatalogue, type SandboxItem } from './records.ts'

export interface ImportTiming {
  /** Items that the platform processes in a second. */
  itemsPerSecond: number
  /** How long a job rests after the last upload before it is completed, in ms. */
  settleMs: number
}

export interface SandboxImport {
  batchId: string
  status: 'Started' | 'Processing' | 'Completed' | 'Failed'
  itemsReceived: number
  itemsProcessed: number
  message?: string
}

/** A catalogue that a supplier has published already. */
export interface Sample {
  id: string
  name: string
  items: SandboxItem[]
}

export type CatalogueData = ReturnType<typeof createCatalogueData>

/** Catalogues, their items, import jobs and access controls, as the platform keeps them. */
export function createCatalogueData(sql: Sql, { itemsPerSecond, settleMs }: ImportTiming) {
  const insert = sql.prepare(`INSERT INTO items VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET item = excluded.item, import = excluded.import WHERE import <> excluded.import`)
  const update = sql.prepare('UPDATE items SET item = ? WHERE catalogue = ? AND code = ?')
  const itemCount = (id: string) =>
    Number(sql.all('SELECT count(*) AS n FROM items WHERE catalogue = ?', id)[0]?.n)

  const created = (where: string, value: string): (SandboxCatalogue & { context: string })[] =>
    sql.all(`SELECT * FROM catalogues WHERE ${where} = ? ORDER BY number DESC`, value).map((row) => ({
      ...{ id: String(row.id), name: String(row.name), scope: row.scope as SandboxCatalogue['scope'] },
      ...{ itemCount: itemCount(String(row.id)), updatedAt: String(row.updated_at) },
      context: String(row.context),
    }))
  const jobRow = (catalogue: string, batchId: string) =>
    sql.all('SELECT * FROM imports WHERE catalogue = ? AND batch_id = ?', catalogue, batchId)[0]

  return {
    /** The business's catalogues: its own, the latest first, then those it came with. */
    list: (context: string): SandboxCatalogue[] => [
      ...created('context', context).map(({ context: _, ...catalogue }) => catalogue),
      ...cataloguesOf(context),
    ],
    find(id: string): (SandboxCatalogue & { context: string }) | undefined {
      const [own] = created('id', id)
      if (own) return own
      const context = id.replace(/-C\d+$/, '')
      const came = cataloguesOf(context).find((catalogue) => catalogue.id === id)
      if (!came) return undefined
      const count = itemCount(id)
      return { ...came, context, ...(count > 0 && { itemCount: count }) }
    },
    /** The business that a catalogue belongs to. */
    ownerOf(id: string): string | undefined {
      const [row] = sql.all('SELECT context FROM catalogues WHERE id = ?', id)
      if (row) return String(row.context)
      const context = id.replace(/-C\d+$/, '')
      return cataloguesOf(context).some((catalogue) => catalogue.id === id) ? context : undefined
    },
    create(context: string, name: string, scope: SandboxCatalogue['scope']): SandboxCatalogue {
      const id = randomUUID()
      const updatedAt = new Date().toISOString()
      sql.run(
        'INSERT INTO catalogues (id, context, name, scope, updated_at) VALUES (?, ?, ?, ?, ?)',
        ...[id, context, name, scope, updatedAt],
      )
      return { id, name, scope, itemCount: 0, updatedAt }
    },
    /** Items after a code, in the order of their codes. Those that a catalogue came with give way to imported ones. */
    items(id: string, after: string, top: number): SandboxItem[] {
      const rows = sql.all(
        'SELECT item FROM items WHERE catalogue = ? AND code > ? ORDER BY code LIMIT ?',
        id,
        after,
        top,
      )
      if (rows.length > 0 || after !== '') return rows.map((row) => JSON.parse(String(row.item)))
      const came = cataloguesOf(id.replace(/-C\d+$/, '')).find((catalogue) => catalogue.id === id)
      return came ? itemsOf(came, 0, top) : []
    },

    /** Items whose code or name has the text, after a code, in the order of their codes. */
    search(
      id: string,
      { search, after, top }: { search: string; after: string; top: number },
    ): SandboxItem[] {
      if (search === '' && after === '') return this.items(id, '', top)
      const like = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
      const rows = sql.all(
        `SELECT item FROM items WHERE catalogue = ? AND code > ?
          AND (code LIKE ? ESCAPE '\\' OR json_extract(item, '$.name') LIKE ? ESCAPE '\\') ORDER BY code LIMIT ?`,
        ...[id, after, like, like, top],
      )
      if (rows.length > 0 || itemCount(id) > 0) return rows.map((row) => JSON.parse(String(row.item)))
      const wanted = search.toLowerCase()
      return this.items(id, '', Number.MAX_SAFE_INTEGER)
        .filter(({ code, name }) => code > after && `${code}\n${name}`.toLowerCase().includes(wanted))
        .slice(0, top)
    },
    /** Those of these codes that the catalogue has, in the order of the codes. */
    itemsByCode(id: string, codes: string[]): SandboxItem[] {
      const all = itemCount(id) > 0 ? [] : this.items(id, '', Number.MAX_SAFE_INTEGER)
      return codes.flatMap((code) => {
        const [row] = sql.all('SELECT item FROM items WHERE catalogue = ? AND code = ?', id, code)
        return row ? JSON.parse(String(row.item)) : (all.find((item) => item.code === code) ?? [])
      })
    },
    /** Whether builders may pick from it (specification 1.2): an import was completed, or it came with the business. */
    isPublished(id: string): boolean {
      const jobs = sql.all('SELECT batch_id FROM imports WHERE catalogue = ?', id)
      if (jobs.length === 0) return cataloguesOf(id.replace(/-C\d+$/, '')).some((came) => came.id === id)
      return jobs.some(
        ({ batch_id }) => this.imports.state(id, String(batch_id), () => false)?.status === 'Completed',
      )
    },
    /** Publishes a catalogue with items that the sandbox comes with, unless it is there. */
    publish(context: string, { id, name, items }: Sample): void {
      if (sql.all('SELECT 1 FROM catalogues WHERE id = ?', id).length > 0) return
      sql.transaction(() => {
        sql.run(
          'INSERT INTO catalogues (id, context, name, scope, updated_at) VALUES (?, ?, ?, ?, ?)',
          ...[id, context, name, 'Public', new Date().toISOString()],
        )
        sql.run(
          'INSERT INTO imports (catalogue, batch_id, received, begun_at, last_at) VALUES (?, ?, ?, 0, 0)',
          id,
          'sample',
          items.length,
        )
        for (const item of items) insert.run(id, item.code, 0, JSON.stringify(item))
      })
    },

    imports: {
      /** False when the batch id is known already. */
      start: (catalogue: string, batchId: string): boolean =>
        sql.run(
          `INSERT OR IGNORE INTO imports (catalogue, batch_id, received, begun_at, last_at)
             VALUES (?, ?, 0, ?, ?)`,
          ...[catalogue, batchId, Date.now(), Date.now()],
        ).changes === 1,

      /** Stores the items, each code once; false when there is no such job. */
      add(catalogue: string, batchId: string, items: SandboxItem[]): boolean {
        const job = jobRow(catalogue, batchId)
        if (!job) return false
        sql.transaction(() => {
          let fresh = 0
          for (const item of items) {
            const json = JSON.stringify(item)
            if (insert.run(catalogue, item.code, Number(job.number), json).changes === 1) fresh++
            else update.run(json, catalogue, item.code)
          }
          const now = Date.now()
          const begun = job.received === 0 ? now : Number(job.begun_at)
          sql.run(
            'UPDATE imports SET received = received + ?, begun_at = ?, last_at = ?, failed = NULL WHERE number = ?',
            ...[fresh, begun, now, Number(job.number)],
          )
          sql.run('UPDATE catalogues SET updated_at = ? WHERE id = ?', new Date(now).toISOString(), catalogue)
        })
        return true
      },

      /** The job as it is now; `fails` is asked, once, whether a job that ends now fails. */
      state(catalogue: string, batchId: string, fails: () => boolean): SandboxImport | undefined {
        const job = jobRow(catalogue, batchId)
        if (!job) return undefined
        const [received, begun, last] = [Number(job.received), Number(job.begun_at), Number(job.last_at)]
        const rate = (Date.now() - begun) * (itemsPerSecond / 1000)
        const counts = {
          batchId,
          itemsReceived: received,
          itemsProcessed: Math.min(received, Math.floor(rate)),
        }
        const failed = (message: string) => ({ ...counts, status: 'Failed' as const, message })
        if (job.failed) return failed(String(job.failed))
        if (received === 0) return { ...counts, status: 'Started' }
        if (counts.itemsProcessed < received || Date.now() - last < settleMs)
          return { ...counts, status: 'Processing' }
        if (!fails()) return { ...counts, status: 'Completed' }
        const message = 'The import was stopped by an internal fault of the platform.'
        sql.run('UPDATE imports SET failed = ? WHERE number = ?', message, Number(job.number))
        return failed(message)
      },
    },

    access: {
      grant(catalogue: string, supplier: string, externalRef: string, isPreApproved: boolean): void {
        sql.run(
          'INSERT OR REPLACE INTO access_controls VALUES (?, ?, ?, ?)',
          ...[catalogue, supplier, externalRef, isPreApproved ? 1 : 0],
        )
      },
      list: (catalogue: string) =>
        sql
          .all('SELECT * FROM access_controls WHERE catalogue = ? ORDER BY external_ref', catalogue)
          .map((row) => ({
            ...{ externalRef: String(row.external_ref), isPreApproved: row.pre_approved === 1 },
          })),
      has: (catalogue: string, externalRef: string): boolean =>
        sql.all(
          'SELECT 1 FROM access_controls WHERE catalogue = ? AND external_ref = ?',
          catalogue,
          externalRef,
        ).length > 0,
      preApproved: (supplier: string, externalRef: string): boolean =>
        sql.all(
          'SELECT 1 FROM access_controls WHERE supplier = ? AND external_ref = ? AND pre_approved = 1',
          ...[supplier, externalRef],
        ).length > 0,
    },
  }
}
