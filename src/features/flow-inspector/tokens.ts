import { Router } from 'express'
import * as z from 'zod'
import { ConnectionRevokedError, NotConnectedError } from '../../connect/errors.ts'
import type { Vault } from '../../connect/index.ts'
import { connectionRef, nameOf, sendPageOrJson } from '../../web/kit.ts'
import type { FlowStore } from './flow-store.ts'
import { PAGE_DATA, rowOf } from './view.ts'

const time = z.iso.datetime().nullable()

const tokensSchema = z.object({
  bxcontext: z.string(),
  issuedAt: time,
  expiresAt: time,
  lastUsedAt: time,
  /** How often this grant was refreshed. */
  refreshes: z.number().int(),
  /** Whether there is a refresh token. */
  renewable: z.boolean(),
  requestedScopes: z.array(z.string()),
  /** Null if the platform does not name them. */
  scopes: z.array(z.string()).nullable(),
  events: z.array(z.object({ at: z.string(), kind: z.string(), outcome: z.string(), flow: z.string() })),
})

export interface TokenRoutesOptions {
  vault: Pick<Vault, 'find'>
  flows: FlowStore
  requestedScopes: readonly string[]
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

/** `GET /connections/:bxcontext/tokens`: what is known of a connection's tokens, never a token. */
export function tokenRoutes({ vault, flows, requestedScopes }: TokenRoutesOptions): Router {
  return Router().get('/', async (req, res) => {
    const ref = connectionRef(req)
    const { bxcontext } = ref
    const connection = await vault.find(ref)
    if (!connection) throw new NotConnectedError()
    const { view, tokens, scopes } = connection
    if (view.state === 'revoked') throw new ConnectionRevokedError(view.at, view.reason)
    if (!tokens) throw new NotConnectedError()
    const ofConnection = (await flows.list(ref.userId)).filter((flow) => flow.bxcontext === bxcontext)
    // Successful calls are not events of a connection.
    const rows = ofConnection.filter(({ outcome }) => outcome !== 'answered').map(rowOf)
    const panel: z.input<typeof tokensSchema> = {
      bxcontext,
      issuedAt: iso(tokens.issuedAt),
      expiresAt: iso(tokens.expiresAt),
      lastUsedAt: iso(connection.lastUsedAt),
      refreshes: tokens.refreshes,
      renewable: tokens.renewable,
      requestedScopes: [...requestedScopes],
      scopes,
      events: rows.map(({ startedAt: at, kind, outcome, id: flow }) => ({ at, kind, outcome, flow })),
    }
    sendPageOrJson(req, res, {
      view: 'flow-inspector/tokens',
      title: `Tokens of ${nameOf(connection)}`,
      data: { panel, rows, bxcontext, ...PAGE_DATA },
      json: panel,
    })
  })
}
