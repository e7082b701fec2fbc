import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { OAuth, Tokens } from '../platform/oauth.ts'
import type { TokenSource } from '../platform/token-source.ts'
import type { Store } from '../store/store.ts'
import type { ActiveConnection, Connection } from './connection.ts'
import { createGate, type GateOptions, type Trouble } from './gate.ts'
import { createRecords } from './records.ts'
import { active, createRefresher, withTokens } from './refresh.ts'
import { createSealer, type SealingKey } from './seal.ts'

/** A connection as a page may show it: no token in it, not even by accident. */
export type ConnectionSummary = Readonly<{
  context: string
  scopes: string[] | null
  connectedAt: number
  refreshedAt: number | null
}> &
  (
    | { status: 'active'; expiresAt: number; trouble: Trouble | null }
    | { status: 'revoked'; revokedAt: number; revokedBecause: string }
  )

/** A stored connection that cannot be opened, and why. */
export interface UnreadableConnection {
  context: string
  status: 'unreadable'
  reason: string
}

export interface Vault {
  /**
   * A valid access token of this user in this context: one store read while it is fresh, a refresh in the
   * background shortly before it ends, a refresh first when it has ended.
   * Throws `NotConnected`, `ConnectionRevoked`, `PlatformUnavailable`, `PlatformRejected`, `Misconfigured`,
   * `SealBroken`, `StoreUnavailable`.
   */
  accessToken(userId: string, context: string): Promise<string>
  /** The same as a source for API calls, which can also renew a token that the API rejects. */
  tokenSource(userId: string, context: string): TokenSource
  /** Keeps the tokens of a new consent, in place of any earlier grant in this context. */
  connect(userId: string, context: string, tokens: Tokens): Promise<void>
  /** The user's connection in this context, or null. */
  find(userId: string, context: string): Promise<ConnectionSummary | null>
  /** The user's connections, the latest first. */
  list(userId: string): Promise<(ConnectionSummary | UnreadableConnection)[]>
  /** Gets a new access token now. Throws as `accessToken`. */
  refresh(userId: string, context: string): Promise<void>
  /** Forgets the connection and its tokens. Resolves to whether there was one. */
  disconnect(userId: string, context: string): Promise<boolean>
  /** Seals every stored connection with the first key. */
  reseal(): Promise<{ resealed: number; current: number; unreadable: string[] }>
  /** Resolves when no refresh is under way. */
  idle(): Promise<void>
}

export interface VaultOptions extends GateOptions {
  store: Store
  keys: readonly SealingKey[]
  oauth: Pick<OAuth, 'refresh' | 'scopes'>
  log: Logger
  /** The kind under which connections are stored; users' own unless it says otherwise. */
  kind?: string
}

/** A token is refreshed in the background when it has less than this to live, in ms, or less than a fifth of its life. */
const MARGIN_MS = 60_000

export function createVault(options: VaultOptions): Vault {
  const { store, keys, oauth, log, now = Date.now } = options
  const records = createRecords(store, createSealer(keys), options.kind)
  const gate = createGate(store, options)
  const refresher = createRefresher({ records, gate, oauth, log, now })

  const margin = ({ issuedAt, expiresAt }: ActiveConnection) =>
    Math.min(MARGIN_MS, (expiresAt - issuedAt) / 5)

  async function accessToken(userId: string, context: string): Promise<string> {
    const stored = active(await records.read(userId, context))
    const { connection } = stored
    const left = connection.expiresAt - now()
    if (left <= 0) return (await refresher.refresh(stored)).accessToken
    // In the background: the token still works, and a failure is logged and tried again at the next call.
    if (left < margin(connection) && connection.refreshToken !== null)
      refresher.refresh(stored).catch(() => {})
    return connection.accessToken
  }

  async function renew(userId: string, context: string, rejected: string): Promise<string> {
    const stored = active(await records.read(userId, context))
    if (stored.connection.accessToken !== rejected) return stored.connection.accessToken
    return (await refresher.refresh(stored)).accessToken
  }

  async function summary(connection: Connection): Promise<ConnectionSummary> {
    const { context, scopes, connectedAt, refreshedAt } = connection
    const common = { context, scopes, connectedAt, refreshedAt }
    if (connection.status === 'revoked') {
      const { status, revokedAt, revokedBecause } = connection
      return { ...common, status, revokedAt, revokedBecause }
    }
    const trouble = await gate.trouble(connection.userId, context)
    return { ...common, status: 'active', expiresAt: connection.expiresAt, trouble }
  }

  return {
    accessToken,

    tokenSource: (userId, context) => ({
      accessToken: () => accessToken(userId, context),
      renew: (rejected) => renew(userId, context, rejected),
      unavailable: () => gate.noteOutage(userId, context),
      grantedScopes: async () => (await records.read(userId, context))?.connection.scopes ?? null,
    }),

    async connect(userId, context, tokens) {
      const at = now()
      const grant = { status: 'active' as const, userId, context, grantId: randomUUID(), connectedAt: at }
      const empty = { ...grant, scopes: null, refreshToken: null, refreshedAt: null }
      const connection = { ...withTokens(empty, tokens, at), refreshedAt: null }
      await records.write(connection)
      // The connection is stored; that an old pause could not be ended must not make it look otherwise.
      await gate.reset(userId, context).catch(() => {})
      log.info({ grantId: grant.grantId, expiresAt: connection.expiresAt }, 'account connected')
    },

    async find(userId, context) {
      const stored = await records.read(userId, context)
      return stored && summary(stored.connection)
    },

    async list(userId) {
      const listed = await Promise.all(
        (await records.list(userId)).map((entry) =>
          'connection' in entry
            ? summary(entry.connection)
            : { context: entry.context, status: 'unreadable' as const, reason: entry.unreadable },
        ),
      )
      const time = (entry: (typeof listed)[number]) => ('connectedAt' in entry ? entry.connectedAt : 0)
      return listed.sort((a, b) => time(b) - time(a))
    },

    async refresh(userId, context) {
      const stored = active(await records.read(userId, context))
      const { refreshToken, expiresAt } = stored.connection
      // Without a refresh token there is nothing to renew with; the access token still has its time.
      if (refreshToken === null && expiresAt > now()) return
      await refresher.refresh(stored)
    },

    disconnect: async (userId, context) => {
      const removed = await records.remove(userId, context)
      if (removed) log.info('account disconnected')
      return removed
    },

    reseal: () => records.reseal(),
    idle: () => refresher.idle(),
  }
}
