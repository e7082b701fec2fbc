/**
 * A connection is one record. Each event is a pure function that returns the next record, or the same record if it doesn't change.
 * `vault.ts` applies these functions: it reads the record, calls the function, and writes by compare-and-set. Times are in ms since
 * 1970, by this app's clock.
 */
import * as z from 'zod'
import { type EndReason, MAX_RETRY_AFTER_MS, OUTAGE_KINDS } from '../platform/errors.ts'
import type { CallOutcome } from '../platform/token-source.ts'

/** Identifies a connection: a user of this app, and the business that the user chose on the platform. */
export interface ConnectionRef {
  userId: string
  bxcontext: string
}

/** Why the last refresh or API call failed. `refused`: the answer to a refresh was a 4xx of unknown meaning. */
const lastErrorSchema = z.enum(OUTAGE_KINDS).exclude(['paused'])
export type LastError = z.infer<typeof lastErrorSchema>

/**
 * The reasons that delete the tokens. After `refused`, a refresh may still succeed. `expired` is not stored, because a wrong clock
 * must not delete tokens.
 */
const endReasonSchema = z.enum(['invalid_grant', 'rejected'])

const common = {
  version: z.literal(1),
  /** Random for each write. After a lost answer, it shows whether the write succeeded, so every write can be repeated safely. */
  rev: z.string(),
  /** The number of the latest consent that has begun. Each consent gets the next number. */
  begun: z.int(),
  /** The number of the stored consent. These numbers, not a clock, decide which consent came later. */
  consent: z.int(),
}

/** No connection yet: a consent has begun. The record expires after `NONE_TTL_MS`, when it is too late to store that consent. */
const noneSchema = z.object({ ...common, status: z.literal('none') })

const activeSchema = z.object({
  ...common,
  status: z.literal('active'),
  /** How many times this consent was refreshed. With `consent`, it identifies the tokens of one answer. */
  refreshes: z.int(),
  /** Counts the leases. The process that took the latest lease may refresh these tokens until `leasedUntil`. */
  fence: z.int(),
  leasedUntil: z.number(),
  /** How many refreshes have failed in a row, and when the app may automatically send the next request. */
  failures: z.int(),
  pausedUntil: z.number(),
  /** When a person or a script may ask again: 5 s after a failure, or after a longer pause that the platform asked for. */
  manualFrom: z.number(),
  lastError: lastErrorSchema.nullable(),
  /** The tokens, and the names (`Names`), each encrypted. */
  tokens: z.string(),
  names: z.string(),
  /** Whether the connection includes a refresh token. */
  renewable: z.boolean(),
  /** The granted scopes, or null if the platform did not name them. */
  scopes: z.array(z.string()).nullable(),
  connectedAt: z.number(),
  /** When the access token was received, when to refresh it, and when it expires; null: not known. */
  issuedAt: z.number(),
  refreshAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** When the API last accepted a call, to the minute. */
  usedAt: z.number().nullable(),
  /** How often the API rejected this access token. With a refresh token, at most 1. */
  rejections: z.int(),
  /** Why and since when access counts as ended. The tokens are kept, because a refresh may still succeed. */
  refusal: z.object({ at: z.number(), reason: z.enum(['invalid_grant', 'refused']) }).nullable(),
  /** Scopes of calls that the API accepted although the platform's list of granted scopes lacks them. */
  accepted: z.array(z.string()),
  /** The calls to which the API answered 403, each with the missing scope, or null if it is not known. */
  missing: z.array(z.object({ call: z.string(), scope: z.string().nullable() })),
})

const endedSchema = z.object({
  ...common,
  status: z.literal('ended'),
  names: z.string(),
  scopes: z.array(z.string()).nullable(),
  connectedAt: z.number(),
  usedAt: z.number().nullable(),
  /** When access ended, and why. */
  endedAt: z.number(),
  endedReason: endReasonSchema,
})

const recordSchema = z.discriminatedUnion('status', [noneSchema, activeSchema, endedSchema])
export type ConnectionRecord = z.infer<typeof recordSchema>
export type ActiveRecord = z.infer<typeof activeSchema>
export type EndedRecord = z.infer<typeof endedSchema>

/** The record of a connection that has never existed. */
export const NO_RECORD: ConnectionRecord = { version: 1, rev: '', begun: 0, consent: 0, status: 'none' }

/** How long a record without a connection is kept, in ms. */
export const NONE_TTL_MS = 3_600_000
/** The shortest time between two refreshes, in ms. A lifetime between 1 s and this time counts instead. */
const REFRESH_INTERVAL_MS = 5_000
/** How long before its expiry a token is refreshed in the background, in ms; at most a fifth of its lifetime. */
const REFRESH_MARGIN_MS = 60_000
const MAX_BACKOFF_MS = 30_000
/** How long after `invalid_grant` the app asks again, in ms, because some servers also answer so during a burst of requests. */
const SECOND_QUESTION_MS = 60_000
/** How long an access token must have been expired before a repeated refusal counts as the end of access, in ms. */
const REFUSAL_GRACE_MS = 30_000
/** Without a refresh token, rejections count at most once in this time, in ms. `MAX_REJECTIONS` of them end the connection. */
const REJECTION_INTERVAL_MS = 60_000
const MAX_REJECTIONS = 3
const MAX_MISSING = 20
const CLOCK_TOLERANCE_MS = 5_000
const MINUTE_MS = 60_000

/** Parses a stored record: `NO_RECORD` if there is none, null if it cannot be read. */
export function parseRecord(text: string | null): ConnectionRecord | null {
  if (text === null) return NO_RECORD
  try {
    return recordSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

/** The values that a token response changes: the tokens, encrypted by the caller, and facts about them. */
export type GrantedTokens = Pick<
  ActiveRecord,
  'tokens' | 'names' | 'renewable' | 'scopes' | 'issuedAt' | 'refreshAt' | 'expiresAt'
>

/**
 * When to refresh a token, and when it expires. `expiresIn`: in seconds, if the platform reported it. Otherwise, a token that can
 * be refreshed should live for `assumedLifetimeMs`, and any other token is used until the API rejects it. If a refresh returned the
 * same token (`isSame`), the next refresh waits until it expires.
 */
export function lifetimeOf(
  expiresIn: number | undefined,
  { issuedAt, renewable, isSame }: { issuedAt: number; renewable: boolean; isSame: boolean },
  assumedLifetimeMs: number,
): Pick<ActiveRecord, 'issuedAt' | 'refreshAt' | 'expiresAt'> {
  // A lifetime of 0 would make every token unusable, so it counts as not reported.
  const isReported = expiresIn !== undefined && expiresIn > 0
  if (!isReported && !renewable) return { issuedAt, refreshAt: null, expiresAt: null }
  const lifeMs = isReported ? expiresIn * 1000 : assumedLifetimeMs
  const marginMs = isSame || !renewable ? 0 : Math.min(REFRESH_MARGIN_MS, lifeMs / 5)
  return { issuedAt, refreshAt: issuedAt + lifeMs - marginMs, expiresAt: issuedAt + lifeMs }
}

/** Gives a consent the next number. This happens before its code is sent, so the numbers show which consent began later. */
export const begin = (record: ConnectionRecord): ConnectionRecord => ({
  ...record,
  begun: record.begun + 1,
})

/**
 * Stores the tokens of a consent. Ignores them if a consent that began later is stored, or if the record that gave the number was
 * deleted, for example by a disconnect.
 */
export function granted(
  record: ConnectionRecord,
  consent: number,
  tokens: GrantedTokens,
  connectedAt: number,
): ConnectionRecord {
  if (consent <= record.consent || consent > record.begun) return record
  return { ...withoutConnection(record), ...UNTOUCHED, ...tokens, status: 'active', consent, connectedAt }
}

/** The values that remain when the connection is replaced or ends. */
const withoutConnection = ({ version, rev, begun, consent }: ConnectionRecord) => ({
  version,
  rev,
  begun,
  consent,
})

/** The initial values of a connection. */
const UNTOUCHED = {
  refreshes: 0,
  fence: 0,
  leasedUntil: 0,
  failures: 0,
  pausedUntil: 0,
  manualFrom: 0,
  lastError: null,
  usedAt: null,
  rejections: 0,
  refusal: null,
  missing: [],
  accepted: [],
} satisfies Partial<ActiveRecord>

/** The tokens that a request refreshes, and the lease under which it was sent. */
export type Sent = Pick<ActiveRecord, 'consent' | 'refreshes' | 'fence'>

/**
 * Takes the lease for `leaseMs`, unless another caller has it or requests are paused. A lease that ends later than is possible
 * comes from a wrong clock, and counts as expired.
 */
export function leased(
  record: ActiveRecord,
  { now, leaseMs, manual }: { now: number; leaseMs: number; manual: boolean },
): ActiveRecord {
  if (isWithin(record.leasedUntil, now, leaseMs) || pauseOf(record, now, manual) > 0) return record
  return { ...record, fence: record.fence + 1, leasedUntil: now + leaseMs }
}

/** Stores the tokens of a refresh. */
export function refreshed(record: ConnectionRecord, sent: Sent, tokens: GrantedTokens): ConnectionRecord {
  if (!hasTokens(record, sent)) return record
  return {
    ...record,
    ...tokens,
    refreshes: record.refreshes + 1,
    leasedUntil: 0,
    failures: 0,
    pausedUntil: 0,
    lastError: null,
    rejections: 0,
    refusal: null,
  }
}

/** Access has ended: the tokens are deleted. */
function ended(record: ActiveRecord, endedReason: EndedRecord['endedReason'], endedAt: number): EndedRecord {
  const { names, scopes, connectedAt, usedAt } = record
  return {
    ...withoutConnection(record),
    status: 'ended',
    endedAt,
    endedReason,
    names,
    scopes,
    connectedAt,
    usedAt,
  }
}

/** Ends a lease whose holder sent no request. */
export const released = (record: ConnectionRecord, sent: Sent): ConnectionRecord =>
  isHeld(record, sent) ? { ...record, leasedUntil: 0 } : record

/** Why a token request failed. Null: the failure does not concern this connection. */
export type FailureCause = LastError | 'invalid_grant' | null

/** A refresh failed. The app waits longer after each failure, or as long as the platform asks. */
export function failed(
  record: ConnectionRecord,
  sent: Sent,
  { cause, now, retryAfterMs = 0 }: { cause: FailureCause; now: number; retryAfterMs?: number | undefined },
): ConnectionRecord {
  // Noting the failure ends the lease, so a repeated write doesn't count the failure twice.
  if (!isHeld(record, sent) || record.leasedUntil === 0) return record
  const askedMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
  const noted = { ...record, leasedUntil: 0, manualFrom: now + Math.max(REFRESH_INTERVAL_MS, askedMs) }
  if (cause === 'invalid_grant') return grantRefused(noted, now, askedMs)
  const backoffMs = Math.min(MAX_BACKOFF_MS, 1000 * 2 ** Math.min(record.failures, 10))
  const pausedUntil = now + Math.max(backoffMs, askedMs)
  const after = { ...noted, lastError: cause, failures: record.failures + 1, pausedUntil }
  if (cause !== 'refused') return after
  // One refusal isn't enough: the API must also reject the token, or a second refusal must come 30 s after its expiry.
  const isRepeated = record.lastError === 'refused' && (record.expiresAt ?? now) + REFUSAL_GRACE_MS <= now
  const refusal = record.refusal ?? { at: now, reason: 'refused' }
  return isRepeated || record.rejections > 0 ? { ...after, refusal } : after
}

/**
 * The platform answered `invalid_grant`. Access counts as ended. A second such answer, at least a minute later, deletes the tokens.
 * `askedMs`: the pause that the platform asked for.
 */
function grantRefused(record: ActiveRecord, now: number, askedMs: number): ConnectionRecord {
  const firstAt = record.refusal?.reason === 'invalid_grant' ? record.refusal.at : now
  // A time in the future comes from another clock, and would delay the second request.
  const at = Math.min(now, firstAt)
  if (at + SECOND_QUESTION_MS <= now) return ended(record, 'invalid_grant', at)
  const pausedUntil = Math.max(at + SECOND_QUESTION_MS, now + askedMs)
  return { ...record, refusal: { at, reason: 'invalid_grant' }, pausedUntil }
}

/**
 * The API rejected an access token that should be valid, and it could not be replaced. Without a refresh token, three rejections,
 * each at least a minute apart, end the connection.
 */
export function rejected(record: ConnectionRecord, sent: SentTokens, now: number): ConnectionRecord {
  if (!hasTokens(record, sent) || isExpired(record, now)) return record
  if (record.renewable) {
    const refusal = record.refusal ?? (record.lastError === 'refused' ? { at: now, reason: 'refused' } : null)
    return patched(record, { rejections: 1, refusal })
  }
  if (pauseOf(record, now) > 0) return record
  const rejections = record.rejections + 1
  return rejections < MAX_REJECTIONS
    ? { ...record, rejections, pausedUntil: now + REJECTION_INTERVAL_MS }
    : ended(record, 'rejected', now)
}

/** Notes the outcome of an API call with a token of this consent. The record changes only if the outcome is new. */
export function called(
  record: ConnectionRecord,
  { consent }: Pick<Sent, 'consent'>,
  outcome: CallOutcome,
  now: number,
): ConnectionRecord {
  if (record.status !== 'active' || record.consent !== consent) return record
  // Only a refresh proves that the platform accepts this grant again. After `invalid_grant`, an access token may outlive it.
  const lastError = record.lastError === 'refused' ? record.lastError : null
  const refusal = record.refusal?.reason === 'invalid_grant' ? record.refusal : null
  switch (outcome.result) {
    case 'ok': {
      const { call, scope } = outcome
      const others = record.missing.filter(
        (entry) => entry.call !== call && (scope === null || entry.scope !== scope),
      )
      const missing = others.length < record.missing.length ? others : record.missing
      const isNamed = scope === null || (record.scopes?.includes(scope) ?? true)
      const accepted =
        isNamed || record.accepted.includes(scope) ? record.accepted : [...record.accepted, scope]
      const usedAt = Math.max(record.usedAt ?? 0, Math.floor(now / MINUTE_MS) * MINUTE_MS)
      return patched(record, { lastError, missing, accepted, usedAt, rejections: 0, refusal })
    }
    case 'forbidden': {
      const { call } = outcome
      const scopes = outcome.scopes.length > 0 ? outcome.scopes : [null]
      const isKnown = scopes.every((scope) =>
        record.missing.some((entry) => entry.call === call && entry.scope === scope),
      )
      const others = record.missing.filter((entry) => entry.call !== call)
      const noted = [...others, ...scopes.map((scope) => ({ call, scope }))].slice(-MAX_MISSING)
      const missing = isKnown ? record.missing : noted
      return patched(record, { lastError, missing, rejections: 0, refusal })
    }
    case 'unavailable':
      return record.lastError === null ? { ...record, lastError: outcome.kind } : record
    default:
      return outcome satisfies never
  }
}

const name = z.string().nullable()
export const namesSchema = z.object({ businessName: name, userName: name, label: name })
/** The names of the business and the person as the platform reports them, and the user's own name for the connection. */
export type Names = z.infer<typeof namesSchema>

/** Changes the label. `open` decrypts the names, and `seal` encrypts them. */
export function labelled(
  record: ConnectionRecord,
  label: string | null,
  { open, seal }: { open(sealed: string): Names; seal(names: Names): string },
): ConnectionRecord {
  if (record.status === 'none') return record
  const names = open(record.names)
  return names.label === label ? record : { ...record, names: seal({ ...names, label }) }
}

/** Encrypts the secrets of a record with another key. */
export function resealed(record: ConnectionRecord, reseal: (sealed: string) => string): ConnectionRecord {
  if (record.status === 'none') return record
  const names = reseal(record.names)
  return record.status === 'active'
    ? patched(record, { names, tokens: reseal(record.tokens) })
    : patched(record, { names })
}

/** Returns the record with the values of `patch`, or the same record if they are equal. */
function patched<R extends ActiveRecord | EndedRecord>(record: R, patch: Partial<R>): R {
  const isSame = Object.entries(patch).every(([name, value]) => Reflect.get(record, name) === value)
  return isSame ? record : { ...record, ...patch }
}

type SentTokens = Pick<Sent, 'consent' | 'refreshes'>
/** Whether the record still has these tokens. */
export const hasTokens = (record: ConnectionRecord, sent: SentTokens): record is ActiveRecord =>
  record.status === 'active' && record.consent === sent.consent && record.refreshes === sent.refreshes

/** Whether the record still has these tokens, and no other process has taken the lease since. */
const isHeld = (record: ConnectionRecord, sent: Sent): record is ActiveRecord =>
  hasTokens(record, sent) && record.fence === sent.fence

/** Whether `end` is in the future, by at most `longestMs` and the usual difference between the clocks of two machines. */
const isWithin = (end: number, now: number, longestMs: number) =>
  end > now && end - now <= longestMs + CLOCK_TOLERANCE_MS

/**
 * How long the current pause of token requests lasts, in ms. `manual`: the shorter pause for a person or a script, which is 5 s, or
 * as long as the platform asked. A pause that ends later than is possible comes from a wrong clock, and counts as over.
 */
export function pauseOf(record: ActiveRecord, now: number, manual = false): number {
  const end = manual ? record.manualFrom : record.pausedUntil
  return isWithin(end, now, MAX_RETRY_AFTER_MS) ? end - now : 0
}

export const isExpired = ({ expiresAt }: ActiveRecord, now: number) => expiresAt !== null && expiresAt <= now
export const isDue = ({ refreshAt }: ActiveRecord, now: number) => refreshAt !== null && refreshAt <= now

/** How long until the token may be refreshed again, in ms. See `REFRESH_INTERVAL_MS`. */
export function refreshableIn({ refreshes, issuedAt, expiresAt }: ActiveRecord, now: number): number {
  if (refreshes === 0) return 0
  const lifeMs = expiresAt === null ? REFRESH_INTERVAL_MS : expiresAt - issuedAt
  const intervalMs = lifeMs > 1000 ? Math.min(REFRESH_INTERVAL_MS, lifeMs) : REFRESH_INTERVAL_MS
  const elapsedMs = now - issuedAt
  return elapsedMs >= 0 && elapsedMs < intervalMs ? intervalMs - elapsedMs : 0
}

/**
 * The state of a connection. `degraded`: the platform is unreachable or refuses, and the connection is kept. `canReconnect`: the
 * API rejects the access token, so a new consent may help. `needs_consent`: permissions are missing. `revoked`: access has ended.
 */
export type ConnectionView =
  | { state: 'none' }
  | { state: 'active' }
  | { state: 'degraded'; lastError: LastError; canReconnect: boolean }
  | { state: 'needs_consent'; missingScopes: string[] }
  | { state: 'revoked'; at: number; reason: EndReason }

/** The only place that decides the state of a connection. `requestedScopes`: the scopes that this app asks for. */
export function viewOf(
  record: ConnectionRecord,
  requestedScopes: readonly string[],
  now: number,
): ConnectionView {
  switch (record.status) {
    case 'none':
      return { state: 'none' }
    case 'ended':
      return { state: 'revoked', at: record.endedAt, reason: record.endedReason }
    case 'active': {
      const { expiresAt, refusal, lastError, rejections, missing } = record
      // Without a refresh token, a connection ends with its access token.
      if (expiresAt !== null && expiresAt <= now && !record.renewable)
        return { state: 'revoked', at: expiresAt, reason: 'expired' }
      if (refusal) return { state: 'revoked', ...refusal }
      if (lastError !== null)
        return { state: 'degraded', lastError, canReconnect: rejections > 0 || lastError === 'rejected' }
      const missingScopes = missingScopesOf(record, requestedScopes)
      return missingScopes.length > 0 || missing.length > 0
        ? { state: 'needs_consent', missingScopes }
        : { state: 'active' }
    }
    default:
      return record satisfies never
  }
}

/** Whether only the user can make a connection in this state work again. */
export function needsUser(view: ConnectionView): boolean {
  switch (view.state) {
    case 'revoked':
    case 'needs_consent':
      return true
    case 'degraded':
      return view.canReconnect
    case 'active':
    case 'none':
      return false
    default:
      return view satisfies never
  }
}

/** When a connection was last used, or else when it was connected, in ms since 1970. */
export const lastUse = (of: { usedAt: number | null; connectedAt: number }): number =>
  of.usedAt ?? of.connectedAt

/** More than each time of a record, in ms. */
export const LATER = 1e14

/**
 * The place of a record in the list of the user's connections. Connections that need the user come first. Connections without a
 * refresh token will need the user, so they follow, by their expiry, and then all others, by their last use. So time alone doesn't
 * change the order.
 */
export function placeOf(record: ConnectionRecord, requestedScopes: readonly string[], now: number): number {
  if (record.status === 'none') return 0
  if (needsUser(viewOf(record, requestedScopes, now))) return 2 * LATER + lastUse(record)
  const endsAt = record.status === 'active' && !record.renewable ? record.expiresAt : null
  return endsAt === null ? lastUse(record) : Math.round(2 * LATER - endsAt)
}

/** When and why access has ended; null if it has not. After a refusal, a success with the kept tokens restores access. */
export function endOf(record: ConnectionRecord, now: number): { at: number; reason: EndReason } | null {
  const view = viewOf(record, [], now)
  return view.state === 'revoked' ? view : null
}

/** This scope asks for a refresh token (OpenID Connect Core 1.0, section 11). It is not a permission that users grant. */
const OFFLINE_ACCESS = 'offline_access'

/**
 * Requested scopes that were not granted, unless the API has accepted a call for them. Also scopes whose absence made the API
 * refuse a call.
 */
export function missingScopesOf(record: ConnectionRecord, requestedScopes: readonly string[]): string[] {
  if (record.status !== 'active') return []
  const { scopes, missing, accepted } = record
  const granted = scopes && [...scopes, ...accepted]
  const ungranted = granted ? requestedScopes.filter((scope) => !granted.includes(scope)) : []
  const refused = missing.map(({ scope }) => scope).filter((scope) => scope !== null)
  return [...new Set([...ungranted.filter((scope) => scope !== OFFLINE_ACCESS), ...refused])]
}

/** An event of a connection. It never contains tokens. */
export type ConnectionEvent =
  | { type: 'connected'; scopes: readonly string[] | null }
  | { type: 'refreshed'; scopes: readonly string[] | null }
  | { type: 'refreshFailed'; lastError: LastError }
  | { type: 'recovered' }
  | { type: 'revoked'; reason: EndReason }
  | { type: 'disconnected' }

/** Derives the events of a change from its two records. */
export function eventsOf(before: ConnectionRecord, after: ConnectionRecord): ConnectionEvent[] {
  if (after.status === 'none' && before.status !== 'none') return [{ type: 'disconnected' }]
  if (after.status === 'active' && after.consent !== before.consent)
    return [{ type: 'connected', scopes: after.scopes }]
  const events: ConnectionEvent[] = []
  const tokens = before.status === 'active' ? before : UNTOUCHED
  if (after.status === 'active' && after.failures > tokens.failures && after.lastError !== null)
    events.push({ type: 'refreshFailed', lastError: after.lastError })
  const isRefreshed = after.status === 'active' && after.refreshes > tokens.refreshes
  if (isRefreshed) events.push({ type: 'refreshed', scopes: after.scopes })
  // At the time 0, no token has expired. An expiry is not an event, because it does not change the record.
  const [hadEnded, end] = [endOf(before, 0) !== null, endOf(after, 0)]
  if (!end && (hadEnded || (isRefreshed && tokens.failures > 0))) events.push({ type: 'recovered' })
  if (end && !hadEnded) events.push({ type: 'revoked', reason: end.reason })
  return events
}
