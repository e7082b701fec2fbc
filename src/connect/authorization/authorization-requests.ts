import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import { randomCodeVerifier, randomState } from '../platform/oauth.ts'
import { type Key, type KeyValueStore, keyName } from '../store/store.ts'
import { update } from '../store/update.ts'
import type { RecordCipher } from '../vault/encryption.ts'
import { ConnectError, type FailureCode } from './errors.ts'
import {
  type ConsentingRequest,
  type NewRequest,
  type PendingRequest,
  pendingSchema,
  requestSchema,
  type StoredRequest,
} from './stored-request.ts'

/** An authorization request belongs to one user in one browser session. */
export interface BrowserSession {
  userId: string
  /** A digest of the session id. */
  session: string
}

/** How a request ended: the bxcontext that was connected, or the code of the failure. */
export type Outcome = { connected: string } | { failed: FailureCode }

/** A request that has ended, with its outcome. */
export interface EndedRequest {
  authorizationRequestId: string
  outcome: Outcome
}

/** What the authorization url needs. */
export interface Consent {
  authorizationRequestId: string
  bxcontext: string
  state: string
  codeVerifier: string
}

/** The platform returned a different bxcontext from the one to reconnect; the user decides. */
export interface Mismatch {
  authorizationRequestId: string
  /** Identifies the question, for `confirm`. */
  id: string
  /** The bxcontext that arrived. */
  bxcontext: string
  /** The bxcontext to reconnect. */
  expected: string
}

/** What the code exchange needs. Only one caller gets it, so the code is sent once. */
export interface PendingExchange {
  authorizationRequestId: string
  bxcontext: string
  /** The bxcontext to reconnect. */
  expected: string | undefined
  codeVerifier: string
  /** Stores the outcome, which is shown if the same callback is opened again. */
  end(outcome: Outcome): Promise<void>
}

/** How a flow failed, for the page that shows it. */
export interface NotedFailure {
  code: FailureCode
  /** The id of the HTTP request that failed. */
  requestId: string
  /** The bxcontext to reconnect. */
  expected?: string | undefined
}

/** Connect flows that have started and not finished. Every method throws `StoreUnavailableError`. */
export interface AuthorizationRequests {
  /**
   * Starts a request, which accepts one bxcontext for 15 minutes. `expected`: the one to reconnect. Resolves to its
   * id, which is no secret.
   */
  start(browser: BrowserSession, expected?: string): Promise<string>
  /**
   * Binds the bxcontext that arrived to a started request with a new random state (RFC 6749 section 10.12). If it is not
   * the expected one, resolves to a `Mismatch`. Until the request has finished, another bxcontext takes the place of the one
   * before, whose consent is then refused: the user went back and chose again. Throws `ConnectError`
   * (`missing_authorization_request`) if no request is pending: anyone could have planted that bxcontext;
   * `bxcontext_replaced` if another one arrived at the same moment.
   */
  bindBxcontext(browser: BrowserSession, bxcontext: string): Promise<Consent | Mismatch>
  /**
   * Resolves to the mismatch of this id. Throws `ConnectError` (`missing_authorization_request`, `invalid_state`,
   * `bxcontext_replaced`).
   */
  mismatch(browser: BrowserSession, id: string): Promise<Mismatch>
  /** Accepts the bxcontext that arrived and consumes the mismatch. Throws as `mismatch` does. */
  confirm(browser: BrowserSession, id: string): Promise<Consent>
  /**
   * Consumes the request of this state, atomically: one caller among all processes gets the `PendingExchange`, the others
   * wait for its outcome. Throws `ConnectError` (`invalid_state`, `bxcontext_replaced`, `exchange_incomplete`).
   */
  consume(browser: BrowserSession, state: string): Promise<PendingExchange | EndedRequest>
  /** Stores how this browser's latest flow failed, for 15 minutes. */
  noteFailure(browser: BrowserSession, failure: NotedFailure): Promise<void>
  /** Resolves to how this browser's latest flow failed, or null. */
  lastFailure(browser: BrowserSession): Promise<NotedFailure | null>
}

interface FlowDependencies {
  platform: Platform
  store: KeyValueStore
  cipher: RecordCipher
  now: () => number
}

const LIFETIME_MS = 15 * 60_000
/** How many requests one session may have pending: one per tab; and how many bxcontexts may arrive for one of them. */
const MAX_PENDING = 20
/** How much longer than the token endpoint may take the other callers wait for the exchange, in ms. */
const WAIT_LONGER_MS = 13_000
const POLL_MS = 50

const waitMs = ({ tokenEndpointMs }: Platform) => tokenEndpointMs + WAIT_LONGER_MS

const keyOf = (
  { platform }: FlowDependencies,
  what: string,
  { userId }: BrowserSession,
  id: string,
): Key => ({
  kind: `${platform.name}-${what}`,
  owner: userId,
  id,
})
const pendingKey = (deps: FlowDependencies, browser: BrowserSession) =>
  keyOf(deps, 'pending-authorization', browser, browser.session)
const failureKey = (deps: FlowDependencies, browser: BrowserSession) =>
  keyOf(deps, 'connect-failure', browser, browser.session)
/** `id`: a state, or the id of a mismatch. The store holds only its digest, and the code verifier is encrypted. */
const requestKey = (deps: FlowDependencies, browser: BrowserSession, id: string) =>
  keyOf(deps, 'authorization-request', browser, digestOf(id))
const digestOf = (id: string) => createHash('sha256').update(id).digest('base64url')

export function createAuthorizationRequests(
  platform: Platform,
  store: KeyValueStore,
  cipher: RecordCipher,
  now: () => number = Date.now,
): AuthorizationRequests {
  const deps: FlowDependencies = { platform, store, cipher, now }
  return {
    async start(browser, expected) {
      const id = randomUUID()
      let dropped: PendingRequest[] = []
      await updatePending(deps, browser, (pending) => {
        const started = [...pending, { id, expiresAt: now() + LIFETIME_MS, expected, stored: [] }]
        dropped = started.slice(0, -MAX_PENDING)
        return started.slice(-MAX_PENDING)
      })
      for (const { stored } of dropped) await deleteRequests(deps, browser, stored)
      return id
    },

    async bindBxcontext(browser, bxcontext) {
      const id = randomState()
      const { expiresAt, expected, stored, ...pending } = await bindPending(deps, browser, bxcontext, id)
      for (const digest of stored) await replaceRequest(deps, browser, digest, bxcontext)
      await deleteRequests(deps, browser, stored.slice(0, -(MAX_PENDING - 1)))
      const authorizationRequestId = pending.id
      const common = { authorizationRequestId, bxcontext, expiresAt }
      if (expected === undefined || expected === bxcontext)
        return createConsent(deps, browser, id, { ...common, expected })
      await writeRequest(deps, browser, id, { ...common, phase: 'confirming', expected })
      return { authorizationRequestId, id, bxcontext, expected }
    },

    async mismatch(browser, id) {
      const { authorizationRequestId, bxcontext, expected } = (await readMismatch(deps, browser, id)).request
      return { authorizationRequestId, id, bxcontext, expected }
    },

    confirm: (browser, id) => confirm(deps, browser, id),

    noteFailure: (browser, failure) =>
      store.set(failureKey(deps, browser), JSON.stringify(failure), LIFETIME_MS),

    async lastFailure(browser) {
      const value = await store.get(failureKey(deps, browser))
      return value === null ? null : JSON.parse(value)
    },

    consume: (browser, state) => consume(deps, browser, state),
  }
}

/** See `AuthorizationRequests.confirm`. */
async function confirm(deps: FlowDependencies, browser: BrowserSession, id: string): Promise<Consent> {
  const { request, value } = await readMismatch(deps, browser, id)
  if (!(await deps.store.compareAndSet(requestKey(deps, browser, id), value, null)))
    throw new ConnectError('invalid_state')
  const { authorizationRequestId, bxcontext, expiresAt } = request
  const state = randomState()
  await updatePending(deps, browser, (pending) =>
    pending.map((one) => (one.id === authorizationRequestId ? withStored(one, state) : one)),
  )
  return createConsent(deps, browser, state, { authorizationRequestId, bxcontext, expiresAt })
}

/** See `AuthorizationRequests.consume`. */
async function consume(
  deps: FlowDependencies,
  browser: BrowserSession,
  state: string,
): Promise<PendingExchange | EndedRequest> {
  const deadline = performance.now() + waitMs(deps.platform)
  for (;;) {
    const { request, value } = await readRequest(deps, browser, state)
    if (request.phase === 'confirming') throw new ConnectError('invalid_state')
    if (request.phase === 'replaced') throw new ConnectError('bxcontext_replaced')
    if (request.phase === 'ended') {
      const { authorizationRequestId, outcome } = request
      return { authorizationRequestId, outcome }
    }
    if (request.phase === 'consenting') {
      await updatePending(deps, browser, (pending) =>
        pending.filter(({ id }) => id !== request.authorizationRequestId),
      )
      const exchange = await claimExchange(deps, requestKey(deps, browser, state), request, value)
      if (exchange) return exchange
      continue
    }
    if (performance.now() > deadline) throw new ConnectError('exchange_incomplete')
    await pause(POLL_MS)
  }
}

/** Changes the list of this session's pending requests, which tabs may do at the same time. */
async function updatePending(
  deps: FlowDependencies,
  browser: BrowserSession,
  change: (pending: PendingRequest[]) => PendingRequest[],
): Promise<void> {
  const changed = (value: string | null) => {
    const next = change(parsePending(deps, value))
    return next.length > 0 ? JSON.stringify(next) : null
  }
  await update(deps.store, pendingKey(deps, browser), changed, LIFETIME_MS)
}

/** An unreadable list counts as empty: the user starts again. */
function parsePending(deps: FlowDependencies, value: string | null): PendingRequest[] {
  const pending = pendingSchema.safeParse(parseJson(value ?? '')).data ?? []
  return pending.filter(({ expiresAt }) => expiresAt > deps.now())
}

const withStored = (pending: PendingRequest, id: string): PendingRequest => ({
  ...pending,
  stored: [...pending.stored, digestOf(id)].slice(-MAX_PENDING),
})

/**
 * Notes `id` for the pending request that a bxcontext belongs to; resolves to that request as it was before. Prefers requests
 * without a bxcontext; among those the one that expects this bxcontext, or else the latest. If all have one, the user went back
 * and chose again.
 */
async function bindPending(deps: FlowDependencies, browser: BrowserSession, bxcontext: string, id: string) {
  let bound: PendingRequest | undefined
  await updatePending(deps, browser, (pending) => {
    const waiting = pending.filter(({ stored }) => stored.length === 0)
    const candidates = waiting.length > 0 ? waiting : pending
    const found = candidates.findLast(({ expected }) => expected === bxcontext) ?? candidates.at(-1)
    if (!found) throw new ConnectError('missing_authorization_request')
    bound = found
    return pending.map((one) => (one === found ? { ...withStored(one, id), bxcontext } : one))
  })
  return bound as PendingRequest
}

/** Ends an earlier consent or question of the same flow, unless it was for the same bxcontext. */
async function replaceRequest(
  deps: FlowDependencies,
  browser: BrowserSession,
  digest: string,
  bxcontext: string,
): Promise<void> {
  const key = keyOf(deps, 'authorization-request', browser, digest)
  const value = await deps.store.get(key)
  const request = requestSchema.safeParse(parseJson(value ?? '')).data
  if (request?.phase !== 'consenting' && request?.phase !== 'confirming') return
  if (request.bxcontext === bxcontext) return
  const { authorizationRequestId, session, expiresAt } = request
  const replaced: StoredRequest = {
    phase: 'replaced',
    authorizationRequestId,
    session,
    bxcontext: request.bxcontext,
    expiresAt,
  }
  await deps.store.compareAndSet(key, value, JSON.stringify(replaced), Math.max(1, expiresAt - deps.now()))
}

/** Deletes what no pending request names any more, so that one session cannot fill the store. */
async function deleteRequests(deps: FlowDependencies, browser: BrowserSession, digests: string[]) {
  for (const digest of digests) await deps.store.delete(keyOf(deps, 'authorization-request', browser, digest))
}

async function createConsent(
  deps: FlowDependencies,
  browser: BrowserSession,
  state: string,
  common: {
    authorizationRequestId: string
    bxcontext: string
    expiresAt: number
    expected?: string | undefined
  },
): Promise<Consent> {
  const codeVerifier = randomCodeVerifier()
  const encryptedVerifier = deps.cipher.encrypt(codeVerifier, keyName(requestKey(deps, browser, state)))
  await writeRequest(deps, browser, state, { ...common, phase: 'consenting', encryptedVerifier })
  const { authorizationRequestId, bxcontext } = common
  // A bxcontext that arrived before that was written has not replaced it.
  const pending = parsePending(deps, await deps.store.get(pendingKey(deps, browser)))
  const latest = pending.find(({ id }) => id === authorizationRequestId)?.bxcontext ?? bxcontext
  if (latest !== bxcontext) {
    await deleteRequests(deps, browser, [digestOf(state)])
    throw new ConnectError('bxcontext_replaced')
  }
  return { authorizationRequestId, bxcontext, state, codeVerifier }
}

function writeRequest(deps: FlowDependencies, browser: BrowserSession, id: string, request: NewRequest) {
  const { store, now } = deps
  const stored: StoredRequest = { ...request, session: browser.session }
  return store.set(requestKey(deps, browser, id), JSON.stringify(stored), request.expiresAt - now())
}

/** Throws `ConnectError` (`missing`) if there is no such request of this session, or it has expired. */
async function readRequest(
  deps: FlowDependencies,
  browser: BrowserSession,
  id: string,
  missing: FailureCode = 'invalid_state',
) {
  const { store, now } = deps
  const value = await store.get(requestKey(deps, browser, id))
  const request = requestSchema.safeParse(parseJson(value ?? '')).data
  if (value === null || request?.session !== browser.session || request.expiresAt <= now())
    throw new ConnectError(missing)
  return { request, value }
}

async function readMismatch(deps: FlowDependencies, browser: BrowserSession, id: string) {
  // Usually it has been answered, and the connection is finished.
  const { request, value } = await readRequest(deps, browser, id, 'missing_authorization_request')
  if (request.phase === 'replaced') throw new ConnectError('bxcontext_replaced')
  if (request.phase !== 'confirming') throw new ConnectError('invalid_state')
  return { request, value }
}

/** Claims the exchange, or resolves to null if another caller did so first. `value`: the stored text of the request. */
async function claimExchange(
  { platform, store, cipher, now }: FlowDependencies,
  key: Key,
  request: ConsentingRequest,
  value: string,
): Promise<PendingExchange | null> {
  const { encryptedVerifier, ...rest } = request
  const exchanging: StoredRequest = { ...rest, phase: 'exchanging' }
  const claimed = JSON.stringify(exchanging)
  // Stored until the outcome is known, however long the exchange takes.
  const ttlMs = Math.max(request.expiresAt - now(), waitMs(platform))
  if (!(await store.compareAndSet(key, value, claimed, ttlMs))) return null
  return {
    authorizationRequestId: request.authorizationRequestId,
    bxcontext: request.bxcontext,
    expected: request.expected,
    codeVerifier: cipher.decrypt(encryptedVerifier, keyName(key)),
    async end(outcome) {
      const ended: StoredRequest = { ...rest, phase: 'ended', outcome, expiresAt: now() + LIFETIME_MS }
      await store.compareAndSet(key, claimed, JSON.stringify(ended), LIFETIME_MS)
    },
  }
}
