import { describe, expect, test } from 'vitest'
import type { CallOutcome } from '../../../src/connect/platform/token-source.ts'
import {
  type ActiveRecord,
  begin,
  type ConnectionRecord,
  called,
  eventsOf,
  type FailureCause,
  failed,
  type GrantedTokens,
  granted,
  isDue,
  labelled,
  leased,
  lifetimeOf,
  type Names,
  NO_RECORD,
  parseRecord,
  pauseOf,
  refreshableIn,
  refreshed,
  rejected,
  released,
  viewOf,
} from '../../../src/connect/vault/connection.ts'

const NOW = 1_800_000_000_000
const LEASE_MS = 10_000
const SCOPES = ['leads', 'catalogues']

const tokens = (extra: Partial<GrantedTokens> = {}): GrantedTokens => ({
  tokens: 'tokens',
  names: 'names',
  renewable: true,
  scopes: SCOPES,
  issuedAt: NOW,
  refreshAt: NOW + 240_000,
  expiresAt: NOW + 300_000,
  ...extra,
})

/** A connection that was granted at `NOW` and expires five minutes later. */
function active(extra: Partial<GrantedTokens> = {}): ActiveRecord {
  return withTokens(granted(begin(NO_RECORD), 1, tokens(extra), NOW))
}

const MINUTE = 60_000

/** The record, which has tokens. */
function withTokens(record: ConnectionRecord): ActiveRecord {
  if (record.status !== 'active') throw new Error('the record has no tokens')
  return record
}

const lease = (record: ConnectionRecord, now = NOW, manual = false) =>
  leased(withTokens(record), { now, leaseMs: LEASE_MS, manual })

/** A record after a failed request. The request is sent under a lease, even during a pause. */
function fail(record: ConnectionRecord, cause: FailureCause, now = NOW, retryAfterMs?: number) {
  const sent = lease({ ...withTokens(record), manualFrom: 0 }, now, true)
  return failed(sent, sent, { cause, now, retryAfterMs })
}
/** The same record if it keeps its tokens. */
const afterFailure = (...args: Parameters<typeof fail>) => withTokens(fail(...args))
/** How long the app waits before its next request, or before a person may refresh. */
const pauseAfter = (record: ConnectionRecord, now = NOW, manual = false) =>
  pauseOf(withTokens(record), now, manual)

/** A record that two answers `invalid_grant`, a minute apart, have ended. */
const twiceRefused = (record: ConnectionRecord) =>
  fail(fail(record, 'invalid_grant'), 'invalid_grant', NOW + MINUTE)

const stateOf = (record: ConnectionRecord, now = NOW) => viewOf(record, SCOPES, now).state

describe('consents', () => {
  test('are numbered by the record when they begin', () => {
    const both = begin(begin(NO_RECORD))
    expect([both.begun, both.consent, stateOf(both)]).toEqual([2, 0, 'none'])
  })

  test('an earlier consent does not replace a later one', () => {
    const later = granted(begin(begin(NO_RECORD)), 2, tokens(), NOW)
    expect(granted(later, 1, tokens({ tokens: 'earlier' }), NOW)).toBe(later)
  })

  test('one whose number another record gave is not stored', () => {
    const other = begin({ ...NO_RECORD, begun: 7, consent: 7 })
    for (const number of [2, 7, 9]) expect(granted(other, number, tokens(), NOW)).toBe(other)
    expect(granted(other, 8, tokens(), NOW).status).toBe('active')
  })

  test('a consent leaves no pause, trouble, missing permission or lease of the earlier one', () => {
    const troubled = called(
      lease(afterFailure(active(), 'refused'), NOW + MINUTE),
      { consent: 1 },
      { result: 'forbidden', call: 'GET /leads', scopes: ['leads'] },
      NOW,
    )
    const next = granted(begin(troubled), 2, tokens(), NOW)
    expect(next).toMatchObject({ failures: 0, pausedUntil: 0, lastError: null, leasedUntil: 0, missing: [] })
  })
})

describe('a label', () => {
  const names = (label: string | null): Names => ({ businessName: 'Harbour', userName: null, label })
  const seal = { open: (sealed: string): Names => JSON.parse(sealed), seal: JSON.stringify }
  const before = active({ names: JSON.stringify(names('Main')) })
  const label = (record: ConnectionRecord, label: string | null) => labelled(record, label, seal)

  test.each([
    ['is replaced by another one', 'Second'],
    ['is removed', null],
  ])('%s', (_what, next) => {
    expect(label(before, next)).toEqual({ ...before, names: JSON.stringify(names(next)) })
  })

  test('that is given again changes nothing', () => {
    expect(label(before, 'Main')).toBe(before)
  })

  test('can be given after a refresh, and when access has ended', () => {
    const later = refreshed(before, lease(before), tokens({ names: before.names }))
    const over = twiceRefused(later)
    for (const record of [later, over])
      expect(label(record, 'Second')).toEqual({ ...record, names: JSON.stringify(names('Second')) })
  })

  test('cannot be given to what is no connection', () => {
    expect(label(NO_RECORD, 'Second')).toBe(NO_RECORD)
  })
})

describe('the lease', () => {
  test('is taken by one caller at a time, and each holder has a higher number', () => {
    const first = lease(active())
    expect(lease(first, NOW + LEASE_MS - 1)).toBe(first)
    expect(lease(first, NOW + LEASE_MS).fence).toBe(first.fence + 1)
  })

  test('excludes a machine whose clock is a few seconds behind', () => {
    const first = lease(active(), NOW + 3_000)
    expect(lease(first, NOW)).toBe(first)
  })

  test('that ends later than a lease can is over: its clock was wrong', () => {
    const ahead = lease(active(), NOW + 3_600_000)
    expect(lease(ahead, NOW).fence).toBe(ahead.fence + 1)
  })

  test('is over at once if nothing was sent under it, unless another caller has it', () => {
    const [first, second] = [lease(active()), lease(lease(active()), NOW + LEASE_MS)]
    expect(lease(released(first, first)).fence).toBe(first.fence + 1)
    expect(released(second, first)).toBe(second)
  })

  test('is not taken during a pause of our own; a person waits at most 5 s', () => {
    let paused = active()
    for (let failure = 0; failure < 5; failure++) paused = afterFailure(paused, 'error')
    for (const now of [NOW, NOW + 15_999]) expect(lease(paused, now)).toBe(paused)
    expect(lease(paused, NOW + 4_999, true)).toBe(paused)
    expect(lease(paused, NOW + 5_000, true).fence).toBe(paused.fence + 1)
  })

  test.each([false, true])(
    'is not taken during a pause that the platform asked for (a person asks: %s)',
    (manual) => {
      const paused = afterFailure(active(), 'busy', NOW, 300_000)
      expect(lease(paused, NOW + 299_999, manual)).toBe(paused)
      expect(lease(paused, NOW + 300_000, manual).fence).toBe(paused.fence + 1)
    },
  )
})

describe('an answer', () => {
  const sent = lease(active())

  test.each([
    ['a later consent', granted(begin(sent), 2, tokens({ tokens: 'later' }), NOW)],
    ['a disconnect', { ...NO_RECORD, begun: 7, consent: 7 }],
    ['an end', twiceRefused(sent)],
    ['another refresh', refreshed(sent, sent, tokens({ tokens: 'another' }))],
  ])('to a request that was sent before %s changes nothing', (_what, record) => {
    expect(refreshed(record, sent, tokens({ tokens: 'late' }))).toBe(record)
    for (const cause of ['invalid_grant', 'error'] as const)
      expect(failed(record, sent, { cause, now: NOW })).toBe(record)
    expect(rejected(record, sent, NOW)).toBe(record)
  })

  test('of a holder whose lease another one has: a failure changes nothing, tokens are stored', () => {
    const taken = lease(sent, NOW + LEASE_MS)
    for (const cause of ['invalid_grant', 'error'] as const)
      expect(failed(taken, sent, { cause, now: NOW })).toBe(taken)
    expect(refreshed(taken, sent, tokens())).toMatchObject({ refreshes: 1 })
  })

  test('with tokens ends every trouble and the lease', () => {
    const refused = afterFailure(afterFailure(active(), 'refused', NOW + 400_000), 'refused', NOW + 400_000)
    expect(stateOf(refused)).toBe('revoked')
    const healed = refreshed(refused, refused, tokens())
    expect(healed).toMatchObject({ failures: 0, lastError: null, refusal: null, leasedUntil: 0 })
    expect(stateOf(healed)).toBe('active')
  })
})

describe('failures', () => {
  test('count once although the write is repeated, and offer no reconnect by themselves', () => {
    const sent = lease(active())
    const once = failed(sent, sent, { cause: 'error', now: NOW })
    expect(failed(once, sent, { cause: 'error', now: NOW })).toBe(once)
    expect(viewOf(once, SCOPES, NOW)).toEqual({ state: 'degraded', lastError: 'error', canReconnect: false })
  })

  test('pause longer each time, at most 30 s', () => {
    let record: ConnectionRecord = active()
    const pauses = [1, 2, 4, 8, 16, 30, 30].map(() => {
      record = afterFailure(record, 'error')
      return pauseAfter(record) / 1000
    })
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
  })

  test('pause as long as the platform asks for, at most 5 minutes', () => {
    for (const manual of [false, true]) {
      expect(pauseAfter(afterFailure(active(), 'busy', NOW, 60_000), NOW, manual)).toBe(60_000)
      expect(pauseAfter(afterFailure(active(), 'busy', NOW, 86_400_000), NOW, manual)).toBe(300_000)
    }
  })

  test('a pause that ends later than it can is over: its clock was wrong', () => {
    for (const manual of [false, true])
      expect(pauseAfter(afterFailure(active(), 'error', NOW + 3_600_000), NOW, manual)).toBe(0)
  })

  test.each([
    ['error', 'degraded'],
    ['refused', 'degraded'],
    [null, 'active'],
  ] as const)('%s: the tokens are kept, and the connection is %s', (lastError, state) => {
    const record = afterFailure(active(), lastError)
    expect(record).toMatchObject({ status: 'active', tokens: 'tokens' })
    expect(stateOf(record)).toBe(state)
  })
})

describe('a refusal counts as the end of access', () => {
  const reject = (record: ActiveRecord, now = NOW) => withTokens(rejected(record, record, now))

  test('if the API rejects the token, before or after it', () => {
    expect(stateOf(reject(afterFailure(active(), 'refused')))).toBe('revoked')
    expect(stateOf(afterFailure(reject(active()), 'refused'))).toBe('revoked')
  })

  test('if it is repeated 30 s after the token has expired, not before, and not at once', () => {
    const [before, after] = [NOW + 329_999, NOW + 330_000]
    const once = afterFailure(active(), 'refused', after)
    expect(stateOf(once, after)).toBe('degraded')
    expect(stateOf(afterFailure(once, 'refused', after), after)).toBe('revoked')
    const early = afterFailure(afterFailure(active(), 'refused', before), 'refused', before)
    expect(stateOf(early, before)).toBe('degraded')
  })

  test('not if the API rejects a token that has expired', () => {
    const record = active()
    expect(rejected(record, record, NOW + 300_000)).toBe(record)
  })

  test('no longer once a call succeeds; then it is degraded until a refresh succeeds', () => {
    const refused = reject(afterFailure(active(), 'refused'))
    const healed = called(refused, refused, { result: 'ok', call: 'GET /leads', scope: 'leads' }, NOW)
    expect(stateOf(healed)).toBe('degraded')
  })

  test('and an outage does not, but offers to reconnect once the API rejects the token', () => {
    const outage = afterFailure(reject(active()), 'error')
    expect(viewOf(outage, SCOPES, NOW)).toEqual({ state: 'degraded', lastError: 'error', canReconnect: true })
  })
})

describe('invalid_grant', () => {
  const refused = afterFailure(active(), 'invalid_grant')
  const ended = { state: 'revoked', at: NOW, reason: 'invalid_grant' }
  const working = { result: 'ok', call: 'GET /leads', scope: 'leads' } as const

  test('ends access if it comes again a minute later, at the time of the first', () => {
    const over = fail(refused, 'invalid_grant', NOW + MINUTE)
    expect(over).toMatchObject({ status: 'ended', names: 'names' })
    expect(over).not.toHaveProperty('tokens')
    expect(viewOf(over, SCOPES, NOW + MINUTE)).toEqual(ended)
  })

  test('that comes again within the minute, or from a clock that is behind, delays the second question no further', () => {
    const again = afterFailure(refused, 'invalid_grant', NOW + MINUTE - 1)
    expect(again).toMatchObject({ status: 'active', refusal: { at: NOW } })
    expect(pauseAfter(again, NOW + MINUTE)).toBe(0)
    const behind = afterFailure(refused, 'invalid_grant', NOW - 3_600_000)
    expect(pauseAfter(behind, NOW - 3_600_000)).toBe(MINUTE)
  })

  test('with a Retry-After is not asked about again before that, by the app or a person', () => {
    const asked = afterFailure(active(), 'invalid_grant', NOW, 200_000)
    expect([pauseAfter(asked), pauseAfter(asked, NOW, true)]).toEqual([200_000, 200_000])
  })

  test('stays the end during an outage and over a call that the API accepts', () => {
    const outage = afterFailure(refused, 'error', NOW + MINUTE)
    for (const record of [outage, called(refused, refused, working, NOW), rejected(refused, refused, NOW)])
      expect(viewOf(record, SCOPES, NOW + MINUTE)).toEqual(ended)
  })

  test('keeps the tokens the first time, also long after another refusal', () => {
    expect(refused).toMatchObject({ status: 'active', tokens: 'tokens' })
    const other = afterFailure(afterFailure(active(), 'refused', NOW + 400_000), 'refused', NOW + 400_000)
    expect(fail(other, 'invalid_grant', NOW + 500_000)).toMatchObject({ status: 'active', tokens: 'tokens' })
  })
})

test('without a refresh token, three rejections a minute apart end a connection', () => {
  let record = active({ renewable: false, refreshAt: null, expiresAt: null })
  expect(stateOf(record)).toBe('active')
  for (const now of [0, 1_000, 60_000, 61_000].map((ms) => NOW + ms))
    record = withTokens(rejected(record, record, now))
  expect(rejected(record, record, NOW + 120_000)).toMatchObject({
    status: 'ended',
    endedReason: 'rejected',
    names: 'names',
  })
})

test('without a refresh token, a connection ends with its access token', () => {
  const record = active({ renewable: false })
  expect(stateOf(record, NOW + 299_999)).toBe('active')
  expect(viewOf(record, SCOPES, NOW + 300_000)).toMatchObject({ state: 'revoked', reason: 'expired' })
})

describe('a call', () => {
  const ok = { result: 'ok', call: 'GET /leads', scope: 'leads' } as const
  const forbidden = { result: 'forbidden', call: 'GET /leads', scopes: ['leads'] } as const
  const outage = { result: 'unavailable', kind: 'no_answer' } as const
  const CONSENT = { consent: 1 }

  test('changes the record only if it is news', () => {
    for (const outcome of [ok, forbidden, outage])
      for (const record of [active(), active({ scopes: null })]) {
        const once = called(record, CONSENT, outcome, NOW)
        expect(called(once, CONSENT, outcome, NOW)).toBe(once)
      }
  })

  test('that ends an outage or fills a gap says so', () => {
    const troubled = called(called(active(), CONSENT, forbidden, NOW), CONSENT, outage, NOW)
    expect(stateOf(troubled)).toBe('degraded')
    expect(stateOf(called(troubled, CONSENT, ok, NOW))).toBe('active')
  })

  test('that the API rejects although its token is new offers to reconnect', () => {
    const record = called(active(), CONSENT, { result: 'unavailable', kind: 'rejected' }, NOW)
    expect(viewOf(record, SCOPES, NOW)).toMatchObject({ state: 'degraded', canReconnect: true })
  })

  const forbids = (what: string, ...scopes: string[]) =>
    ({ result: 'forbidden', call: `GET /${what}`, scopes }) as const
  const accepts = (what: string, scope: string | null) =>
    ({ result: 'ok', call: `GET /${what}`, scope }) as const
  const [LEADS, CATALOGUES] = [forbids('leads', 'leads'), forbids('catalogues', 'catalogues')]

  test.each<[what: string, outcomes: CallOutcome[], missing: string[] | null]>([
    ['forbidden names the missing permission', [LEADS], ['leads']],
    ['forbidden without a permission asks for a consent, too', [forbids('leads')], []],
    ['forbidden for another permission names that', [LEADS, forbids('leads', 'catalogues')], ['catalogues']],
    ['forbidden for one more permission names both', [LEADS, forbids('leads', ...SCOPES)], SCOPES],
    ['forbidden leaves the gaps of others', [LEADS, CATALOGUES], SCOPES],
    ['accepted ends its own gap, whatever its scope is called', [LEADS, accepts('leads', null)], null],
    ['accepted ends the gaps of its scope', [LEADS, accepts('leads/1', 'leads')], null],
    ['accepted ends no other gap', [LEADS, CATALOGUES, accepts('leads', 'leads')], ['catalogues']],
    ['accepted ends no gap of others', [LEADS, forbids('a', 'leads'), accepts('leads', null)], ['leads']],
    ['accepted ends no gap without a name', [forbids('leads'), accepts('catalogues', null)], []],
  ])('that is %s', (_what, outcomes, missing) => {
    let record: ConnectionRecord = active()
    for (const outcome of outcomes) record = called(record, CONSENT, outcome, NOW)
    const view = missing ? { state: 'needs_consent', missingScopes: missing } : { state: 'active' }
    expect(viewOf(record, SCOPES, NOW)).toEqual(view)
    expect(parseRecord(JSON.stringify(record))).toEqual(record)
  })

  test('of a hundred that the API forbids leaves a small record', () => {
    let record: ConnectionRecord = active()
    for (let call = 0; call < 100; call++)
      record = called(record, CONSENT, forbids(`${call}`, `${call}`), NOW)
    expect(viewOf(record, SCOPES, NOW)).toMatchObject({ missingScopes: { length: 20 } })
  })

  test('shows that its scope is granted, whatever the platform calls its scopes, also after a refresh', () => {
    const names = { scopes: ['https://platform.example/leads.readonly', 'CATALOGUES'] }
    const working = withTokens(called(active(names), CONSENT, ok, NOW))
    const later = refreshed(working, working, tokens(names))
    expect(viewOf(later, SCOPES, NOW)).toEqual({ state: 'needs_consent', missingScopes: ['catalogues'] })
    expect(stateOf(called(later, CONSENT, { ...ok, scope: 'catalogues' }, NOW))).toBe('active')
  })

  test('that the API refuses for another reason says nothing about its scope', () => {
    const record = called(active({ scopes: ['catalogues'] }), CONSENT, { ...ok, scope: null }, NOW)
    expect(viewOf(record, SCOPES, NOW)).toEqual({ state: 'needs_consent', missingScopes: ['leads'] })
  })

  test('that was accepted does not hide that a refresh no longer names its scope', () => {
    const working = withTokens(called(active(), CONSENT, ok, NOW))
    const later = refreshed(working, working, tokens({ scopes: ['catalogues'] }))
    expect(viewOf(later, SCOPES, NOW)).toMatchObject({ missingScopes: ['leads'] })
  })

  test('is remembered to the minute, unless access has ended', () => {
    expect(called(active(), CONSENT, outage, NOW)).toMatchObject({ usedAt: null })
    const used = called(active(), CONSENT, ok, NOW + 61_000)
    expect(used).toMatchObject({ usedAt: NOW + MINUTE })
    // A machine whose clock is behind.
    expect(called(used, CONSENT, ok, NOW)).toBe(used)
    const over = twiceRefused(active())
    expect(called(over, over, ok, NOW)).toBe(over)
  })

  test('of an earlier consent changes nothing', () => {
    const record = granted(begin(active()), 2, tokens(), NOW)
    for (const outcome of [ok, forbidden, outage]) expect(called(record, CONSENT, outcome, NOW)).toBe(record)
  })
})

test('permissions that were requested and not granted are missing', () => {
  const record = active({ scopes: ['leads'] })
  expect(viewOf(record, [...SCOPES, 'offline_access'], NOW)).toEqual({
    state: 'needs_consent',
    missingScopes: ['catalogues'],
  })
})

describe('the lifetime of a token', () => {
  const lifetime = (expiresIn: number | undefined, renewable = true, isSame = false) =>
    lifetimeOf(expiresIn, { issuedAt: NOW, renewable, isSame }, 120_000)

  test.each<[what: string, of: Parameters<typeof lifetime>, due: number, end: number]>([
    ['3600 s: due a minute before', [3600], 3_540_000, 3_600_000],
    ['100 s: due after four fifths', [100], 80_000, 100_000],
    ['not reported: assumed', [undefined], 96_000, 120_000],
    ['0 s, with which no token could be used: assumed', [0], 96_000, 120_000],
    ['returned again by a refresh: due at its end', [100, true, true], 100_000, 100_000],
    ['without a refresh token: due at its end', [100, false], 100_000, 100_000],
  ])('%s', (_what, of, due, end) => {
    const { refreshAt, expiresAt } = lifetime(...of)
    expect([refreshAt, expiresAt]).toEqual([NOW + due, NOW + end])
    const record = active({ refreshAt })
    expect([isDue(record, NOW + due - 1), isDue(record, NOW + due)]).toEqual([false, true])
  })

  test('is unknown if it is not reported and there is no refresh token', () => {
    expect(lifetime(undefined, false)).toMatchObject({ refreshAt: null, expiresAt: null })
    expect(isDue(active({ refreshAt: null }), NOW + 1e9)).toBe(false)
  })

  test.each([
    [300_000, 5_000],
    [2_000, 2_000],
    [0, 5_000],
  ])('a token that lives for %d ms is not refreshed again for %d ms', (lifeMs, intervalMs) => {
    const record = withTokens(refreshed(active(), active(), tokens({ expiresAt: NOW + lifeMs })))
    expect(refreshableIn(record, NOW)).toBe(intervalMs)
    expect(refreshableIn(record, NOW + 1_000)).toBe(intervalMs - 1_000)
    expect(refreshableIn(record, NOW + intervalMs + 1)).toBe(0)
    expect(refreshableIn(active(), NOW)).toBe(0)
    expect(refreshableIn(record, NOW - 3_600_000)).toBe(0)
  })
})

describe('events', () => {
  const typesOf = (before: ConnectionRecord, after: ConnectionRecord) =>
    eventsOf(before, after).map(({ type }) => type)
  const record = active()
  const failure = afterFailure(record, 'error')
  const refused = afterFailure(afterFailure(record, 'refused', NOW + 400_000), 'refused', NOW + 400_000)

  test.each([
    ['a consent', begin(NO_RECORD), record, ['connected']],
    ['another consent', refused, granted(begin(refused), 2, tokens(), NOW), ['connected']],
    ['a consent that begins', record, begin(record), []],
    ['a lease', record, lease(record), []],
    ['a refresh', record, refreshed(record, record, tokens()), ['refreshed']],
    ['a refresh after a failure', failure, refreshed(failure, failure, tokens()), ['refreshed', 'recovered']],
    ['a failure', record, failure, ['refreshFailed']],
    ['a failure that concerns all connections', record, afterFailure(record, null), []],
    ['invalid_grant', record, afterFailure(record, 'invalid_grant'), ['revoked']],
    ['the second invalid_grant', afterFailure(record, 'invalid_grant'), twiceRefused(record), []],
    [
      'tokens after invalid_grant',
      afterFailure(record, 'invalid_grant'),
      refreshed(record, record, tokens()),
      ['refreshed', 'recovered'],
    ],
    ['invalid_grant to what was refused', refused, afterFailure(refused, 'invalid_grant'), []],
    ['a disconnect', record, NO_RECORD, ['disconnected']],
    ['the end of a consent that had begun', begin(NO_RECORD), NO_RECORD, []],
  ])('of %s', (_what, before, after, types) => {
    expect(typesOf(before, after)).toEqual(types)
  })

  test('of a refusal that counts as the end, and of its healing', () => {
    const once = afterFailure(record, 'refused', NOW + 400_000)
    expect(typesOf(once, refused)).toEqual(['refreshFailed', 'revoked'])
    const healed = called(refused, refused, { result: 'ok', call: 'GET /leads', scope: 'leads' }, NOW)
    expect(typesOf(refused, healed)).toEqual(['recovered'])
  })
})
