import { PATHS } from '../../supplier-api/contract.ts'
import { nearMisses } from './credential-checks.ts'
import { type Exchange, isRefused, isSuccess } from './exchange.ts'
import { REMOTE_PLACE, searchPath, storePath } from './places.ts'
import { lineOf, linesOf, NO_ITEMS, priceStore } from './prices.ts'
import {
  type Checks,
  type Demand,
  demand,
  expectAnswer,
  NotCheckedError,
  RuleViolationError,
  type Subject,
  UNKNOWN_ID,
} from './rule.ts'
import { findStores, knownStore } from './stores.ts'
import { certainMs } from './token-keeper.ts'

type ProtectedCall = [path: string, body?: unknown]

/** A call to each of the three endpoints that need a token, about what does not exist. */
const MADE_UP_CALLS: ProtectedCall[] = [
  [searchPath(REMOTE_PLACE)],
  [storePath(UNKNOWN_ID)],
  [PATHS.prices, { items: [lineOf(UNKNOWN_ID, UNKNOWN_ID, 1)] }],
]

/** Calls with a text as the bearer token, or without one. */
const callsAs = (
  { probe }: Subject,
  when: string,
  bearer: string | undefined,
  calls: readonly ProtectedCall[] = MADE_UP_CALLS,
  must: Demand[1] = 'refusal',
): Demand[] =>
  calls.map(([path, body]) => [
    `${when} to ${path.replace(/\?.*/, '')}`,
    must,
    () => probe.callAs(bearer, path, body),
  ])

/** Calls about what exists, without a token and with a made-up one. */
const closed = (subject: Subject, calls: readonly ProtectedCall[]): Demand[] => [
  ...callsAs(subject, 'A call without a token', undefined, calls),
  ...callsAs(subject, 'A call with a made-up token', UNKNOWN_ID, calls),
]

const DEFAULT_PATIENCE_MS = 5_000
/** The part of its lifetime after which a token that lives shortly is sampled. */
const SAMPLE_AT = 0.9

async function sampleLifetime({ probe, patienceMs = DEFAULT_PATIENCE_MS }: Subject): Promise<Exchange> {
  const current = await probe.token()
  const [death] = probe.deaths
  if (death) throw diedEarly(death.ageMs, death.token.expiresIn, death.exchange)
  if (!current?.expiresIn) throw new NotCheckedError('no access token was issued')
  const ageMs = () => probe.clock.now() - current.exchange.sentAt
  const sampleAt = Math.min(patienceMs, certainMs(current) * SAMPLE_AT)
  await probe.clock.sleep(Math.max(0, sampleAt - ageMs()))
  let last = current.exchange
  for (const [path, body] of MADE_UP_CALLS) {
    last = await probe.callAs(current.value, path, body)
    if (isRefused(last)) {
      if (ageMs() >= certainMs(current))
        throw new NotCheckedError(
          `a token lives for ${current.expiresIn} s and had expired before it could be tried again; issue tokens that live longer`,
        )
      // Refused for its age, if another one is accepted.
      const fresh = await probe.newToken()
      if (fresh && !isRefused(await probe.callAs(fresh.value, path, body)))
        throw diedEarly(ageMs(), current.expiresIn, last)
    }
    expectAnswer(last)
  }
  return last
}

function diedEarly(ageMs: number, expiresIn: number | undefined, exchange: Exchange): RuleViolationError {
  return new RuleViolationError(
    `A token that should live for ${expiresIn} s was refused after ${(ageMs / 1000).toFixed(1)} s.`,
    exchange,
  )
}

async function waitForExpiry({ probe, patienceMs = DEFAULT_PATIENCE_MS }: Subject): Promise<Exchange> {
  const token = await probe.token()
  if (!token?.expiresIn) throw new NotCheckedError('no access token was issued')
  const wait = token.exchange.receivedAt + token.expiresIn * 1000 + 1000 - probe.clock.now()
  if (wait > patienceMs)
    throw new NotCheckedError(
      `a token lives for ${token.expiresIn} s, longer than this check waits; issue tokens that live for 3 s in a test`,
    )
  await probe.clock.sleep(Math.max(0, wait))
  const exchange = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
  if (!isSuccess(exchange)) return exchange
  throw new RuleViolationError(
    `A token is still accepted after the ${token.expiresIn} s of its lifetime.`,
    exchange,
  )
}

/** Who may call (specification 2.1, 5.1). */
export const ACCESS_CHECKS: Checks = {
  'access.required': demand((subject) => callsAs(subject, 'A call without a token', undefined)),
  'access.invalid': demand((subject) => callsAs(subject, 'A call with a made-up token', UNKNOWN_ID)),
  'access.real-stores': demand(async (subject) => {
    const store = await knownStore(subject)
    const { tries } = await findStores(subject)
    const found = tries.find(({ stores }) => stores.length > 0)
    return closed(subject, [[searchPath(found?.place ?? REMOTE_PLACE)], [storePath(store)]])
  }),
  'access.real-items': demand(async (subject) => {
    if (subject.items.length === 0) throw new NotCheckedError(NO_ITEMS)
    const items = linesOf(subject.items, await priceStore(subject), 1)
    return closed(subject, [[PATHS.prices, { items }]])
  }),
  'access.near-token': demand(async (subject) => {
    const token = await subject.probe.token()
    if (!token) throw new NotCheckedError('no access token was issued')
    return nearMisses(token.value).flatMap(([how, bearer]) => {
      subject.probe.hide(bearer)
      return callsAs(subject, `A call with the token ${how}`, bearer)
    })
  }),
  'access.status': demand((subject) =>
    [undefined, UNKNOWN_ID].flatMap((bearer) =>
      callsAs(subject, 'A call without a valid token', bearer, MADE_UP_CALLS, 401),
    ),
  ),
  'token.lifetime': sampleLifetime,
  'token.expiry': waitForExpiry,
}
