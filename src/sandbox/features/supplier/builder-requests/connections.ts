import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Sql } from '../../../database.ts'
import { createAccessControls } from '../../catalogues/access-controls.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import type { SandboxCatalogue } from '../../catalogues/generated.ts'
import { findBusiness } from '../businesses.ts'

/** A builder's connection to a supplier, or the request for one (specification 3). */
export const connectionSchema = z.object({
  integrationConnectionId: z.string(),
  supplier: z.string(),
  builder: z.string(),
  externalRef: z.string(),
  state: z.enum(['pending', 'accepted', 'rejected']),
  /** ISO 8601. */
  requestedAt: z.string(),
})
export type BuilderConnection = z.infer<typeof connectionSchema>

export const SCHEMA = `CREATE TABLE IF NOT EXISTS builder_connections (
  number INTEGER PRIMARY KEY, integrationConnectionId TEXT NOT NULL, supplier TEXT NOT NULL, builder TEXT NOT NULL,
  externalRef TEXT NOT NULL, state TEXT NOT NULL, requestedAt TEXT NOT NULL
) STRICT;`

/** Builders' connections to suppliers, and the catalogues that a connected builder sees. */
export function createConnections(sql: Sql) {
  const catalogues = createCatalogues(sql)
  const access = createAccessControls(sql)
  const select = (where: string, ...values: string[]): BuilderConnection[] =>
    sql
      .all(`SELECT * FROM builder_connections WHERE ${where} ORDER BY number`, ...values)
      .map((row) => connectionSchema.parse(row))
  /** The latest connection or request of a builder with a supplier. */
  const between = (builder: string, supplier: string) =>
    select('builder = ? AND supplier = ?', builder, supplier).at(-1)

  return {
    between,
    /**
     * Asks to connect. The request is accepted at once if the supplier pre-approved the ExternalRef, or if `isKnown`. Returns
     * undefined, without any change, if an earlier request is pending or accepted.
     */
    ask(builder: string, supplier: string, externalRef: string, isKnown = false) {
      const earlier = between(builder, supplier)
      if (earlier && earlier.state !== 'rejected') return undefined
      const state = isKnown || access.isPreApproved(supplier, externalRef) ? 'accepted' : 'pending'
      const [integrationConnectionId, requestedAt] = [randomUUID(), new Date().toISOString()]
      const values = [integrationConnectionId, supplier, builder, externalRef, state, requestedAt]
      sql.run('INSERT INTO builder_connections VALUES (NULL, ?, ?, ?, ?, ?, ?)', ...values)
      return between(builder, supplier)
    },
    pending: (supplier: string) => select("supplier = ? AND state = 'pending'", supplier),
    /** Returns false if the supplier has no such pending request. */
    decide(supplier: string, id: string, state: 'accepted' | 'rejected'): boolean {
      const where = "integrationConnectionId = ? AND supplier = ? AND state = 'pending'"
      const update = `UPDATE builder_connections SET state = ? WHERE ${where}`
      return sql.run(update, state, id, supplier).changes === 1
    },
    /** The catalogues that a connected builder sees (specification 2.5): Public catalogues, and Managed catalogues with a grant. */
    visible(builder: string, supplier: string): SandboxCatalogue[] {
      const connection = between(builder, supplier)
      if (connection?.state !== 'accepted') return []
      const isOpen = ({ id, scope }: SandboxCatalogue) =>
        scope === 'Public' || access.has(id, connection.externalRef)
      return catalogues.list(supplier).filter(isOpen)
    },
  }
}

/** A request as the supplier sees it, with the builder's details. */
export function describeRequest(request: BuilderConnection) {
  const { integrationConnectionId, externalRef, requestedAt, builder } = request
  const { account, business } = findBusiness(builder) ?? {}
  const { name = builder, suburb = '' } = business ?? {}
  const { name: contact = '', email = '' } = account ?? {}
  const details = { name, contact, email, phone: '02 5550 0100', suburb }
  return { integrationConnectionId, externalRef, requestedAt, builder: details }
}
