import { randomUUID } from 'node:crypto'
import { businessNamed } from './accounts.ts'
import type { CatalogueData } from './catalogue-data.ts'
import type { Sql } from './database.ts'

/** Specification 3. */
export type RequestState = 'pending' | 'accepted' | 'rejected'

export interface BuilderRequest {
  integrationConnectionId: string
  supplier: string
  builder: string
  externalRef: string
  state: RequestState
  /** ISO 8601. */
  requestedAt: string
}

export type BuilderData = ReturnType<typeof createBuilderData>

/** Builders' requests to connect to a supplier, and what a connected builder sees. */
export function createBuilderData(sql: Sql, catalogues: CatalogueData) {
  const read = (row: Record<string, unknown>): BuilderRequest => ({
    ...{
      integrationConnectionId: String(row.id),
      supplier: String(row.supplier),
      builder: String(row.builder),
    },
    ...{ externalRef: String(row.external_ref), state: row.state as RequestState },
    requestedAt: String(row.requested_at),
  })
  const between = (builder: string, supplier: string): BuilderRequest | undefined =>
    sql
      .all(
        'SELECT * FROM builder_requests WHERE builder = ? AND supplier = ? ORDER BY requested_at DESC, rowid DESC',
        ...[builder, supplier],
      )
      .map(read)[0]

  return {
    between,
    /** A request, accepted at once when the supplier pre-approved its ExternalRef; undefined while an earlier one stands. */
    ask(builder: string, supplier: string, externalRef: string): BuilderRequest | undefined {
      const earlier = between(builder, supplier)
      if (earlier && earlier.state !== 'rejected') return undefined
      const state = catalogues.access.preApproved(supplier, externalRef) ? 'accepted' : 'pending'
      const request = { integrationConnectionId: randomUUID(), requestedAt: new Date().toISOString() }
      sql.run(
        'INSERT INTO builder_requests VALUES (?, ?, ?, ?, ?, ?)',
        ...[request.integrationConnectionId, supplier, builder, externalRef, state, request.requestedAt],
      )
      return { ...request, supplier, builder, externalRef, state }
    },
    /** Connects a builder whom the supplier has accepted before, unless there is a request. */
    connect(builder: string, supplier: string, externalRef: string): void {
      if (between(builder, supplier)) return
      sql.run(
        'INSERT INTO builder_requests VALUES (?, ?, ?, ?, ?, ?)',
        ...[randomUUID(), supplier, builder, externalRef, 'accepted', new Date().toISOString()],
      )
    },
    pending: (supplier: string): BuilderRequest[] =>
      sql
        .all(
          "SELECT * FROM builder_requests WHERE supplier = ? AND state = 'pending' ORDER BY requested_at, rowid",
          supplier,
        )
        .map(read),
    /** False when the request is not this supplier's, or not pending. */
    decide: (supplier: string, id: string, state: 'accepted' | 'rejected'): boolean =>
      sql.run(
        "UPDATE builder_requests SET state = ? WHERE id = ? AND supplier = ? AND state = 'pending'",
        ...[state, id, supplier],
      ).changes === 1,
    /** The catalogues that a builder sees (specification 2.5): Public when connected, Managed when granted as well. */
    visible(builder: string, supplier: string) {
      const connection = between(builder, supplier)
      if (connection?.state !== 'accepted') return []
      return catalogues
        .list(supplier)
        .filter(({ id, scope }) => scope === 'Public' || catalogues.access.has(id, connection.externalRef))
    },
    /** A request as the supplier is told of it, with the builder's details. */
    describe({ integrationConnectionId, externalRef, requestedAt, builder }: BuilderRequest) {
      const { account, business } = businessNamed(builder) ?? {}
      return {
        ...{ integrationConnectionId, externalRef, requestedAt },
        builder: {
          ...{ name: business?.name ?? builder, contact: account?.name ?? '', email: account?.email ?? '' },
          ...{ phone: '02 5550 0100', suburb: business?.suburb ?? '' },
        },
      }
    },
  }
}
