import {
  type ActiveRecord,
  type ConnectionRecord,
  type ConnectionRef,
  type ConnectionView,
  missingScopesOf,
  type Names,
  pauseOf,
  refreshableIn,
  viewOf,
} from './connection.ts'
import type { DecryptionError } from './encryption.ts'

/** A connection without its tokens, for pages and JSON. Times are in ms since 1970. */
export interface Connection extends Names {
  bxcontext: string
  /** `misconfigured`: the platform refuses this app's own credentials. */
  view: Exclude<ConnectionView, { state: 'none' }> | { state: 'misconfigured' }
  /** The number of the consent, as in the log. */
  consent: number
  scopes: string[] | null
  /** Requested scopes that were not granted, and scopes whose absence made the API refuse a call. */
  missingScopes: string[]
  connectedAt: number
  /** When the API last accepted a call, to the minute; null if it is not known. */
  lastUsedAt: number | null
  /** Facts about the tokens; null if access has ended and they are deleted. */
  tokens: TokenFacts | null
}

/** The record's facts about its tokens, and how long until a person may request a refresh, in ms. */
type TokenFacts = Pick<ActiveRecord, 'issuedAt' | 'expiresAt' | 'refreshes' | 'renewable'> & {
  refreshableInMs: number
}

/** A stored connection that cannot be decrypted, and why. */
export interface UnreadableConnection {
  bxcontext: string
  view: { state: 'unreadable' }
  connectedAt: null
  reason: string
  /** The id of the encryption key that is missing, if that is the reason. */
  missingKeyId: string | null
}

/** A state that a connection may have. */
export type ConnectionState = (Connection | UnreadableConnection)['view']['state']
/** All states, for schemas. Code that depends on the state uses a switch, or a `Record` of the states. */
export const CONNECTION_STATES = {
  active: 'active',
  degraded: 'degraded',
  needs_consent: 'needs_consent',
  misconfigured: 'misconfigured',
  revoked: 'revoked',
  unreadable: 'unreadable',
} as const satisfies { [State in ConnectionState]: State }

/** Describes a record for people. `requestedScopes`: the scopes that this app asks for. `isAppRefused`: see `AppCredentials`. */
export function describe(
  { bxcontext }: ConnectionRef,
  record: ConnectionRecord,
  names: Names,
  { requestedScopes, isAppRefused }: { requestedScopes: readonly string[]; isAppRefused: boolean },
  now: number,
): Connection | null {
  const own = viewOf(record, requestedScopes, now)
  if (record.status === 'none' || own.state === 'none') return null
  const view = isAppRefused && own.state !== 'revoked' ? ({ state: 'misconfigured' } as const) : own
  const { consent, scopes, connectedAt, usedAt: lastUsedAt } = record
  const missingScopes = missingScopesOf(record, requestedScopes)
  const tokens = record.status === 'active' ? factsOf(record, now) : null
  return { bxcontext, view, consent, ...names, scopes, missingScopes, connectedAt, lastUsedAt, tokens }
}

function factsOf(record: ActiveRecord, now: number): TokenFacts {
  const { issuedAt, expiresAt, refreshes, renewable } = record
  const refreshableInMs = Math.max(refreshableIn(record, now), pauseOf(record, now, true))
  return { issuedAt, expiresAt, refreshes, renewable, refreshableInMs }
}

export const unreadable = (bxcontext: string, error: DecryptionError): UnreadableConnection => ({
  bxcontext,
  view: { state: 'unreadable' },
  connectedAt: null,
  reason: error.message,
  missingKeyId: error.missingKeyId ?? null,
})
