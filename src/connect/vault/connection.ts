/**
 * A connection is one record. Whatever happens to it is a pure function that returns the next record, or the same one if nothing
 * changes. `vault.ts` applies these functions: it reads the record, calls the function, and writes by compare-and-set. Times are
 * in ms since 1970, by this app's clock.
 */
import * as z from 'zod'
import { type EndReason, MAX_RETRY_AFTER_MS, OUTAGE_KINDS } from '../platform/errors.ts'
import type { CallOutcome } from '../platform/token-source.ts'

/** Identifies a connection: a user of this app, and the business that the user chose on the platform. */
export interface ConnectionRef {
  userId: string
  bxcontext: string
}

/** Why the last refresh or API call failed. `refused`: a refresh was answered with a 4xx of unknown meaning. */
const troubleSchema = z.enum(OUTAGE_KINDS).exclude(['paused'])
export type Trouble = z.infer<typeof troubleSchema>

/**
 * The reasons that are stored. `refused` is not stored, because a refresh may still succeed. `expired` is not stored, because no
 * clock may delete tokens.
 */
const endReasonSchema = z.enum(['invalid_grant', 'rejected'])

const common = {
  version: z.literal(1),
  /** Random for each write. It shows whether a write whose answer was lost has happened, so every write may be repeated. */
  rev: z.string(),
  /** The number of the latest consent that has begun; each gets the next one. */
  begun: z.int(),
  /** The number of the consent that this record shows. The numbers, and no clock, decide which consent came later. */
  consent: z.int(),
  /** How many times this consent was refreshed; with `consent`, it tells apart the tokens of two answers. */
  refreshes: z.int(),
  /** Counts the leases. The process that took the latest one may send the next request for tokens, until `leasedUntil`. */
  fence: z.int(),
  leasedUntil: z.number(),
  /** How many requests for tokens have failed in a row, and until when no further one is sent. */
  failures: z.int(),
  pausedUntil: z.number(),
  trouble: troubleSchema.nullable(),
}

/**
 * No connection yet: a consent has begun, or a log-in has failed. The record expires after `NONE_TTL_MS`, when no consent that has
 * begun can still be stored.
 */
const noneSchema = z.object({ ...common, status: z.literal('none') })

const activeSchema = z.object({
  ...common,
  status: z.literal('active'),
  /** The tokens, and the names (`Names`), each encrypted. */
  tokens: z.string(),
  names: z.string(),
  /** Whether there is a refresh token. */
  renewable: z.boolean(),
  /** The granted scopes, or null if the platform did not name them. */
  scopes: z.array(z.string()).nullable(),
  connectedAt: z.number(),
  /** When the access token was received, when it should be refreshed, and when it expires; null: not known. */
  issuedAt: z.number(),
  dueAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** When the API last accepted a call, to the minute. */
  usedAt: z.number().nullable(),
  /** How often the API rejected this access token. If it can be refreshed, only the first time counts. */
  rejections: z.int(),
  /** When a refused refresh began to count as the end of access. */
  refusedAt: z.number().nullable(),
  /** The calls that the API answered 403, each with the missing scope, or null if it is not known. */
  missing: z.array(z.object({ call: z.string(), scope: z.string().nullable() })),
})

const endedSchema = z.object({
  ...common,
  status: z.literal('ended'),
  names: z.string(),
  scopes: z.array(z.string()).nullable(),
  connectedAt: z.number(),
  usedAt: z.number().nullable(),
  endedAt: z.number(),
  endedReason: endReasonSchema,
})

const recordSchema = z.discriminatedUnion('status', [noneSchema, activeSchema, endedSchema])
export type ConnectionRecord = z.infer<typeof recordSchema>
export type ActiveRecord = z.infer<typeof activeSchema>
export type EndedRecord = z.infer<typeof endedSchema>

/** The record of a connection that never was. */
export const NO_RECORD: ConnectionRecord = {
  version: 1,
  rev: '',
  begun: 0,
  consent: 0,
  refreshes: 0,
  fence: 0,
  leasedUntil: 0,
  failures: 0,
  pausedUntil: 0,
  trouble: null,
  status: 'none',
}

/** How long a record without a connection is kept, in ms. */
export const NONE_TTL_MS = 3_600_000
/** A token is refreshed at most once in this time, in ms, unless it lives for less. */
const REFRESH_INTERVAL_MS = 5_000
/** How long before its end a token is refreshed in the background, in ms; at most a fifth of its life. */
const REFRESH_MARGIN_MS = 60_000
const MAX_BACKOFF_MS = 30_000
/** How long an access token must have been expired until a repeated refusal counts as the end of access, in ms. */
const REFUSAL_GRACE_MS = 30_000
/** Rejections of a token that cannot be refreshed count at most once in this time, in ms. `MAX_REJECTIONS` end the connection. */
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

/** What a token response changes: the tokens, encrypted by the caller, and what is known of them. */
export type GrantedTokens = Pick<
  ActiveRecord,
  'tokens' | 'names' | 'renewable' | 'scopes' | 'issuedAt' | 'dueAt' | 'expiresAt'
>

/**
 * When a token is to be refreshed, and when it expires. `expiresIn`: in seconds, if the platform reported it. If it did not, a token
 * that can be refreshed is taken to live for `assumedLifetimeMs`, and any other token is used until the API rejects it. A token that
 * a refresh returned again (`isSame`) is not refreshed before its end.
 */
export function lifetimeOf(
  expiresIn: number | undefined,
  { issuedAt, renewable, isSame }: { issuedAt: number; renewable: boolean; isSame: boolean },
  assumedLifetimeMs: number,
): Pick<ActiveRecord, 'issuedAt' | 'dueAt' | 'expiresAt'> {
  const isReported = expiresIn !== undefined && (expiresIn > 0 || renewable)
  if (!isReported && !renewable) return { issuedAt, dueAt: null, expiresAt: null }
  const lifeMs = isReported ? expiresIn * 1000 : assumedLifetimeMs
  const marginMs = isSame || !renewable ? 0 : Math.min(REFRESH_MARGIN_MS, lifeMs / 5)
  return { issuedAt, dueAt: issuedAt + lifeMs - marginMs, expiresAt: issuedAt + lifeMs }
}

/** Gives a consent the next number. This happens before its code is sent, so that numbers show which consent began later. */
export const begin = (record: ConnectionRecord): ConnectionRecord => ({
  ...record,
  begun: record.begun + 1,
})

/**
 * Stores the tokens of a consent. Changes nothing if a consent that began later is stored, or if the record that gave the number
 * was deleted, for example by a disconnect.
 */
export function granted(
  record: ConnectionRecord,
  consent: number,
  tokens: GrantedTokens,
  connectedAt: number,
): ConnectionRecord {
  if (consent <= record.consent || consent > record.begun) return record
  return {
    ...withoutConnection(record),
    ...tokens,
    status: 'active',
    consent,
    connectedAt,
    usedAt: null,
    rejections: 0,
    refusedAt: null,
    missing: [],
  }
}

/** What is left of a record when its connection is replaced or ends. */
function withoutConnection({ version, rev, begun, consent, fence }: ConnectionRecord) {
  return { ...NO_RECORD, version, rev, begun, consent, fence }
}

/** Which tokens a request was sent for, and under which lease. */
export type Sent = Pick<ConnectionRecord, 'consent' | 'refreshes' | 'fence'>

/**
 * Takes the lease, which lasts `leaseMs`, unless somebody has it or requests are paused. `manual`: a person asked, which ends a
 * pause. A lease or a pause whose end is further away than it can be comes from a wrong clock, and counts as over.
 */
export function leased(
  record: ConnectionRecord,
  { now, leaseMs, manual }: { now: number; leaseMs: number; manual: boolean },
): ConnectionRecord {
  if (isWithin(record.leasedUntil, now, leaseMs)) return record
  if (!manual && pauseOf(record, now) > 0) return record
  return { ...record, fence: record.fence + 1, leasedUntil: now + leaseMs }
}

/** Stores the tokens of a refresh. */
export function refreshed(record: ConnectionRecord, sent: Sent, tokens: GrantedTokens): ConnectionRecord {
  if (record.status !== 'active' || !isAbout(record, sent)) return record
  return {
    ...record,
    ...tokens,
    refreshes: record.refreshes + 1,
    leasedUntil: 0,
    failures: 0,
    pausedUntil: 0,
    trouble: null,
    rejections: 0,
    refusedAt: null,
  }
}

/** Access has ended: the tokens are deleted. */
export function ended(
  record: ConnectionRecord,
  sent: Pick<Sent, 'consent' | 'refreshes'>,
  endedReason: EndedRecord['endedReason'],
  endedAt: number,
): ConnectionRecord {
  if (record.status !== 'active' || !isAbout(record, sent)) return record
  const { names, scopes, connectedAt, usedAt, refreshes } = record
  return {
    ...withoutConnection(record),
    status: 'ended',
    endedAt,
    endedReason,
    // With the next fence, a failure of an earlier request no longer concerns this record.
    fence: record.fence + 1,
    refreshes,
    names,
    scopes,
    connectedAt,
    usedAt,
  }
}

/** Ends a lease under which nothing was sent. */
export const released = (record: ConnectionRecord, { fence }: Sent): ConnectionRecord =>
  record.fence === fence ? { ...record, leasedUntil: 0 } : record

/**
 * A request for tokens failed. The next one waits longer each time, or as long as the platform asks. `trouble`: null if the
 * failure says nothing about this connection.
 */
export function failed(
  record: ConnectionRecord,
  sent: Sent,
  {
    trouble,
    now,
    retryAfterMs = 0,
  }: { trouble: Trouble | null; now: number; retryAfterMs?: number | undefined },
): ConnectionRecord {
  // Noting the failure ends the lease. So a repeated write does not count it twice.
  const isNoted = record.fence !== sent.fence || record.leasedUntil === 0
  if (isNoted || !isAbout(record, sent)) return record
  const backoffMs = Math.min(MAX_BACKOFF_MS, 1000 * 2 ** Math.min(record.failures, 10))
  const pausedUntil = now + Math.max(backoffMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
  const after = { ...record, trouble, failures: record.failures + 1, pausedUntil, leasedUntil: 0 }
  if (after.status !== 'active' || record.status !== 'active' || trouble !== 'refused') return after
  // A refusal alone proves nothing: the API must reject the token too, or the platform must refuse again long after it expired.
  const isRepeated = record.trouble === 'refused' && (record.expiresAt ?? now) + REFUSAL_GRACE_MS <= now
  return isRepeated || record.rejections > 0 ? { ...after, refusedAt: record.refusedAt ?? now } : after
}

/**
 * The API rejected an access token that should be valid, and it could not be replaced. Without a refresh token, three
 * rejections a minute apart end the connection.
 */
export function rejected(
  record: ConnectionRecord,
  sent: Pick<Sent, 'consent' | 'refreshes'>,
  now: number,
): ConnectionRecord {
  if (record.status !== 'active' || !isAbout(record, sent) || isExpired(record, now)) return record
  if (record.renewable) {
    const refusedAt = record.refusedAt ?? (record.trouble === 'refused' ? now : null)
    return patched(record, { rejections: 1, refusedAt })
  }
  if (pauseOf(record, now) > 0) return record
  const rejections = record.rejections + 1
  return rejections < MAX_REJECTIONS
    ? { ...record, rejections, pausedUntil: now + REJECTION_INTERVAL_MS }
    : ended(record, sent, 'rejected', now)
}

/** How an API call with a token of this consent ended. The record changes only if that is news. */
export function called(
  record: ConnectionRecord,
  { consent }: Pick<Sent, 'consent'>,
  outcome: CallOutcome,
  now: number,
): ConnectionRecord {
  if (record.status !== 'active' || record.consent !== consent) return record
  // Only a refresh proves that the platform accepts this grant again.
  const trouble = record.trouble === 'refused' ? record.trouble : null
  switch (outcome.result) {
    case 'ok': {
      const { call, scope } = outcome
      const others = record.missing.filter((entry) => entry.call !== call && entry.scope !== scope)
      const missing = others.length < record.missing.length ? others : record.missing
      const usedAt = Math.max(record.usedAt ?? 0, Math.floor(now / MINUTE_MS) * MINUTE_MS)
      return patched(record, { trouble, missing, usedAt, rejections: 0, refusedAt: null })
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
      return patched(record, { trouble, missing, rejections: 0, refusedAt: null })
    }
    case 'unavailable':
      return record.trouble === null ? { ...record, trouble: outcome.kind } : record
    default:
      return outcome satisfies never
  }
}

const name = z.string().nullable()
export const namesSchema = z.object({ businessName: name, userName: name, label: name })
/** The names that the platform reports of the business and the person, and the one that the user has given the connection. */
export type Names = z.infer<typeof namesSchema>

/**
 * Changes the label if it is still the one that the user saw (`shown`). `rev` cannot tell that, because a refresh in the
 * background changes it as well. `open` decrypts the names, and `seal` encrypts them.
 */
export function labelled(
  record: ConnectionRecord,
  { label, shown }: Record<'label' | 'shown', string | null>,
  { open, seal }: { open(sealed: string): Names; seal(names: Names): string },
): ConnectionRecord {
  if (record.status === 'none') return record
  const names = open(record.names)
  return names.label === shown && label !== shown ? { ...record, names: seal({ ...names, label }) } : record
}

/** Encrypts the secrets of a record with another key. */
export function resealed(record: ConnectionRecord, reseal: (sealed: string) => string): ConnectionRecord {
  if (record.status === 'none') return record
  const names = reseal(record.names)
  return record.status === 'active'
    ? patched(record, { names, tokens: reseal(record.tokens) })
    : patched(record, { names })
}

/** The record with other values, or itself if they are the same. */
function patched<R extends ActiveRecord | EndedRecord>(record: R, patch: Partial<R>): R {
  const isSame = Object.entries(patch).every(([name, value]) => Reflect.get(record, name) === value)
  return isSame ? record : { ...record, ...patch }
}

const isAbout = (record: ConnectionRecord, sent: Pick<Sent, 'consent' | 'refreshes'>) =>
  record.consent === sent.consent && record.refreshes === sent.refreshes

/** Whether `end` is in the future, by at most `longestMs` and the usual difference between the clocks of two machines. */
const isWithin = (end: number, now: number, longestMs: number) =>
  end > now && end - now <= longestMs + CLOCK_TOLERANCE_MS

/** For how long no request for tokens is sent, in ms. */
export const pauseOf = ({ pausedUntil }: ConnectionRecord, now: number): number =>
  isWithin(pausedUntil, now, MAX_RETRY_AFTER_MS) ? pausedUntil - now : 0

export const isExpired = ({ expiresAt }: ActiveRecord, now: number) => expiresAt !== null && expiresAt <= now
export const isDue = ({ dueAt }: ActiveRecord, now: number) => dueAt !== null && dueAt <= now

/** How long until the token may be refreshed again, in ms: not within 5 s of a refresh, unless it lives for less. */
export function refreshableIn({ refreshes, issuedAt, expiresAt }: ActiveRecord, now: number): number {
  if (refreshes === 0) return 0
  const lifeMs = expiresAt === null ? REFRESH_INTERVAL_MS : expiresAt - issuedAt
  const intervalMs = lifeMs > 1000 ? Math.min(REFRESH_INTERVAL_MS, lifeMs) : REFRESH_INTERVAL_MS
  const elapsedMs = now - issuedAt
  return elapsedMs >= 0 && elapsedMs < intervalMs ? intervalMs - elapsedMs : 0
}

/**
 * The state of a connection. `degraded`: the platform cannot be reached or refuses, and the connection is kept. `canReconnect`: the
 * API rejects the access token, so a new consent may help. `needs_consent`: permissions are missing. `revoked`: access has ended.
 */
export type ConnectionView =
  | { state: 'none' }
  | { state: 'active' }
  | { state: 'degraded'; trouble: Trouble; canReconnect: boolean }
  | { state: 'needs_consent'; missingScopes: string[] }
  | { state: 'revoked'; at: number; reason: EndReason }

/** The only place that decides the state of a connection. `requestedScopes`: those that this app asks for. */
export function viewOf(
  record: ConnectionRecord,
  requestedScopes: readonly string[],
  now: number,
): ConnectionView {
  const end = endOf(record, now)
  if (end) return { state: 'revoked', ...end }
  if (record.status !== 'active') return { state: 'none' }
  const { trouble, rejections } = record
  if (trouble !== null) {
    const canReconnect = rejections > 0 || trouble === 'rejected'
    return { state: 'degraded', trouble, canReconnect }
  }
  const missingScopes = missingScopesOf(record, requestedScopes)
  return missingScopes.length > 0 || record.missing.length > 0
    ? { state: 'needs_consent', missingScopes }
    : { state: 'active' }
}

/** When and why access has ended; null if it has not. After `refused`, a success with the kept tokens restores access. */
export function endOf(record: ConnectionRecord, now: number): { at: number; reason: EndReason } | null {
  switch (record.status) {
    case 'none':
      return null
    case 'ended':
      return { at: record.endedAt, reason: record.endedReason }
    case 'active': {
      const { expiresAt, refusedAt } = record
      // Without a refresh token, a connection ends with its access token.
      if (expiresAt !== null && expiresAt <= now && !record.renewable)
        return { at: expiresAt, reason: 'expired' }
      return refusedAt === null ? null : { at: refusedAt, reason: 'refused' }
    }
    default:
      return record satisfies never
  }
}

/** This scope asks for a refresh token (OpenID Connect Core 1.0, section 11). It is not a permission that users grant. */
const OFFLINE_ACCESS = 'offline_access'

/** Requested scopes that were not granted, and scopes whose absence made the API refuse a call. */
export function missingScopesOf(record: ConnectionRecord, requestedScopes: readonly string[]): string[] {
  if (record.status !== 'active') return []
  const { scopes, missing } = record
  const ungranted = scopes ? requestedScopes.filter((scope) => !scopes.includes(scope)) : []
  const refused = missing.map(({ scope }) => scope).filter((scope) => scope !== null)
  return [...new Set([...ungranted.filter((scope) => scope !== OFFLINE_ACCESS), ...refused])]
}

/** An event of a connection. It never contains a token. */
export type ConnectionEvent =
  | { type: 'connected'; scopes: readonly string[] | null }
  | { type: 'refreshed'; scopes: readonly string[] | null }
  | { type: 'refreshFailed'; trouble: Trouble }
  | { type: 'recovered' }
  | { type: 'revoked'; reason: EndReason }
  | { type: 'disconnected' }

/** The events of a change: the differences of its two records. */
export function eventsOf(before: ConnectionRecord, after: ConnectionRecord): ConnectionEvent[] {
  if (after.status === 'none' && before.status !== 'none') return [{ type: 'disconnected' }]
  if (after.status === 'active' && after.consent !== before.consent)
    return [{ type: 'connected', scopes: after.scopes }]
  const events: ConnectionEvent[] = []
  if (after.failures > before.failures && after.trouble !== null)
    events.push({ type: 'refreshFailed', trouble: after.trouble })
  const isRefreshed = after.status === 'active' && after.refreshes > before.refreshes
  if (isRefreshed) events.push({ type: 'refreshed', scopes: after.scopes })
  // At the time 0, no token has expired. An expiry is no event, because it does not change the record.
  const [hadEnded, end] = [endOf(before, 0) !== null, endOf(after, 0)]
  if (!end && (hadEnded || (isRefreshed && before.failures > 0))) events.push({ type: 'recovered' })
  if (end && !hadEnded) events.push({ type: 'revoked', reason: end.reason })
  return events
}
