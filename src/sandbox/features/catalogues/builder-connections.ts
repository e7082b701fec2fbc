import { randomUUID } from 'node:crypto'
import type { Sql } from '../../database.ts'
import { createAccessControls } from './access-controls.ts'
import { createCatalogues } from './catalogues.ts'
import type { SandboxCatalogue } from './generated.ts'

/** A builder's connection to a supplier, or the request for one (specification 3). */
export interface BuilderConnection {
  integrationConnectionId: string
  supplier: string
  builder: string
  externalRef: string
  state: 'pending' | 'accepted' | 'rejected'
  /** ISO 8601. */
  requestedAt: string
}

/** Builders' connections to suppliers, and what a connected builder sees. */
export function createBuilderConnections(sql: Sql) {
  const catalogues = createCatalogues(sql)
  const access = createAccessControls(sql)
  /** The latest connection or request. */
  const between = (builder: string, supplier: string): BuilderConnection | undefined =>
    sql
      .all(
        'SELECT * FROM builder_connections WHERE builder = ? AND supplier = ? ORDER BY requested_at DESC, rowid DESC',
        builder,
        supplier,
      )
      .map(readConnection)[0]
  const add = (
    builder: string,
    supplier: string,
    externalRef: string,
    state: BuilderConnection['state'],
  ): BuilderConnection => {
    const integrationConnectionId = randomUUID()
    const requestedAt = new Date().toISOString()
    const values = [integrationConnectionId, supplier, builder, externalRef, state, requestedAt]
    sql.run('INSERT INTO builder_connections VALUES (?, ?, ?, ?, ?, ?)', ...values)
    return { integrationConnectionId, supplier, builder, externalRef, state, requestedAt }
  }

  return {
    between,
    add,
    /** Connects a builder, unless there is a connection or a request. */
    connect(builder: string, supplier: string, externalRef: string): void {
      if (!between(builder, supplier)) add(builder, supplier, externalRef, 'accepted')
    },
    /** The catalogues that a builder sees (specification 2.5): Public when connected, Managed when granted as well. */
    visible(builder: string, supplier: string): SandboxCatalogue[] {
      const connection = between(builder, supplier)
      if (connection?.state !== 'accepted') return []
      return catalogues
        .list(supplier)
        .filter(({ id, scope }) => scope === 'Public' || access.has(id, connection.externalRef))
    },
  }
}

export const readConnection = (row: Record<string, unknown>): BuilderConnection => ({
  integrationConnectionId: String(row.id),
  supplier: String(row.supplier),
  builder: String(row.builder),
  externalRef: String(row.external_ref),
  state: row.state as BuilderConnection['state'],
  requestedAt: String(row.requested_at),
})
