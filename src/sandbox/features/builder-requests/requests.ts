import { findBusiness } from '../../accounts.ts'
import type { Sql } from '../../database.ts'
import { createAccessControls } from '../catalogues/access-controls.ts'
import {
  type BuilderConnection,
  createBuilderConnections,
  readConnection,
} from '../catalogues/builder-connections.ts'

/** Builders' requests to connect to a supplier (specification 3). */
export function createBuilderRequests(sql: Sql) {
  const connections = createBuilderConnections(sql)
  const access = createAccessControls(sql)
  return {
    /** Accepted at once when the supplier pre-approved the ExternalRef; undefined while an earlier request is pending or accepted. */
    ask(builder: string, supplier: string, externalRef: string): BuilderConnection | undefined {
      const earlier = connections.between(builder, supplier)
      if (earlier && earlier.state !== 'rejected') return undefined
      const state = access.isPreApproved(supplier, externalRef) ? 'accepted' : 'pending'
      return connections.add(builder, supplier, externalRef, state)
    },
    pending: (supplier: string): BuilderConnection[] =>
      sql
        .all(
          "SELECT * FROM builder_connections WHERE supplier = ? AND state = 'pending' ORDER BY requested_at, rowid",
          supplier,
        )
        .map(readConnection),
    /** False when the supplier has no such pending request. */
    decide: (supplier: string, id: string, state: 'accepted' | 'rejected'): boolean =>
      sql.run(
        "UPDATE builder_connections SET state = ? WHERE id = ? AND supplier = ? AND state = 'pending'",
        state,
        id,
        supplier,
      ).changes === 1,
  }
}

/** A request as the supplier sees it, with the builder's details. */
export function describeRequest(request: BuilderConnection) {
  const { integrationConnectionId, externalRef, requestedAt, builder } = request
  const { account, business } = findBusiness(builder) ?? {}
  return {
    integrationConnectionId,
    externalRef,
    requestedAt,
    builder: {
      name: business?.name ?? builder,
      contact: account?.name ?? '',
      email: account?.email ?? '',
      phone: '02 5550 0100',
      suburb: business?.suburb ?? '',
    },
  }
}
