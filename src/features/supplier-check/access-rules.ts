import { PATHS } from '../../supplier-api/contract.ts'
import { nearMisses } from './credential-rules.ts'
import { type Exchange, isRefused, isSuccess } from './exchange.ts'
import { REMOTE_PLACE, searchPath, storePath } from './places.ts'
import { lineOf, linesOf, NO_ITEMS, priceStore } from './prices.ts'
import {
  expectAnswer,
  expectRefused,
  expectStatus,
  NotCheckedError,
  type Rule,
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

/** Makes calls that must be refused, with a text as the bearer token or without one. */
async function refusals(
  { probe }: Subject,
  calls: readonly ProtectedCall[],
  bearer: string | undefined,
  when: string,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  for (const [path, body] of calls) {
    const exchange = await probe.callAs(bearer, path, body)
    expectRefused(exchange, `${when} to ${path.replace(/\?.*/, '')}`)
    exchanges.push(exchange)
  }
  return exchanges
}

const lastOf = (exchanges: Exchange[]) => exchanges.at(-1) as Exchange

const required: Rule = {
  id: 'access.required',
  title: 'The endpoints for stores and prices refuse a call without a token.',
  given: undefined,
  needs: ['access.bearer'],
  check: async (subject) =>
    lastOf(await refusals(subject, MADE_UP_CALLS, undefined, 'A call without a token')),
}

const invalid: Rule = {
  id: 'access.invalid',
  title: 'The endpoints for stores and prices refuse a made-up token.',
  given: undefined,
  needs: ['access.required'],
  check: async (subject) =>
    lastOf(await refusals(subject, MADE_UP_CALLS, UNKNOWN_ID, 'A call with a made-up token')),
}

/** Makes calls about what exists, without a token and with a made-up one. */
async function expectClosed(subject: Subject, calls: readonly ProtectedCall[]): Promise<Exchange> {
  await refusals(subject, calls, undefined, 'A call without a token')
  return lastOf(await refusals(subject, calls, UNKNOWN_ID, 'A call with a made-up token'))
}

const realStores: Rule = {
  id: 'access.real-stores',
  title: 'A call about a store that exists is refused without a token, and with a made-up one.',
  given: undefined,
  needs: ['access.invalid'],
  async check(subject) {
    const store = await knownStore(subject)
    const { tries } = await findStores(subject)
    const found = tries.find(({ stores }) => stores.length > 0)
    return expectClosed(subject, [[searchPath(found?.place ?? REMOTE_PLACE)], [storePath(store)]])
  },
}

const realItems: Rule = {
  id: 'access.real-items',
  title: 'A price request for items that exist is refused without a token, and with a made-up one.',
  given: undefined,
  needs: ['access.invalid'],
  async check(subject) {
    if (subject.items.length === 0) throw new NotCheckedError(NO_ITEMS)
    const items = linesOf(subject.items, await priceStore(subject), 1)
    return expectClosed(subject, [[PATHS.prices, { items }]])
  },
}

const nearToken: Rule = {
  id: 'access.near-token',
  title: 'A token that is almost right (letter case, a character more or less) is refused.',
  given: undefined,
  needs: ['access.invalid'],
  async check(subject) {
    const token = await subject.probe.token()
    if (!token) throw new NotCheckedError('no access token was issued')
    let last: Exchange | undefined
    for (const [description, bearer] of nearMisses(token.value)) {
      subject.probe.hide(bearer)
      last = lastOf(await refusals(subject, MADE_UP_CALLS, bearer, `A call with the token ${description}`))
    }
    return last as Exchange
  },
}

const status: Rule = {
  id: 'access.status',
  title: 'A call without a valid token is refused with 401.',
  given: undefined,
  needs: ['access.invalid'],
  async check(subject) {
    let last: Exchange | undefined
    for (const bearer of [undefined, UNKNOWN_ID])
      for (last of await refusals(subject, MADE_UP_CALLS, bearer, 'A call without a valid token'))
        expectStatus(last, 401, 'A call without a valid token')
    return last as Exchange
  },
}

const DEFAULT_PATIENCE_MS = 5_000
/** The part of its lifetime after which a token that lives shortly is sampled. */
const SAMPLE_AT = 0.9

const lifetime: Rule = {
  id: 'token.lifetime',
  title: 'A token lives as long as expires_in says, sampled during this check.',
  given: '§2.1',
  needs: ['access.bearer', 'token.expires_in', 'token.both-live'],
  async check({ probe, patienceMs = DEFAULT_PATIENCE_MS }) {
    const current = await probe.token()
    const [death] = probe.deaths
    if (death) throw diedEarly(death.ageMs, death.token.expiresIn, death.exchange)
    if (!current?.expiresIn) throw new NotCheckedError('no access token was issued')
    const ageMs = () => probe.clock.now() - current.exchange.sentAt
    const sampleAt = Math.min(patienceMs, certainMs(current) * SAMPLE_AT)
    await probe.clock.sleep(Math.max(0, sampleAt - ageMs()))
    let last: Exchange | undefined
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
    return last as Exchange
  },
}

function diedEarly(ageMs: number, expiresIn: number | undefined, exchange: Exchange): RuleViolationError {
  return new RuleViolationError(
    `A token that should live for ${expiresIn} s was refused after ${(ageMs / 1000).toFixed(1)} s.`,
    exchange,
  )
}

const expiry: Rule = {
  id: 'token.expiry',
  title: 'A token is refused once expires_in has passed.',
  given: undefined,
  needs: ['token.lifetime', 'access.invalid'],
  async check({ probe, patienceMs = DEFAULT_PATIENCE_MS }) {
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
  },
}

/** Who may call (specification 2.1, 5.1). */
export const ACCESS_RULES: Rule[] = [
  required,
  invalid,
  realStores,
  realItems,
  nearToken,
  status,
  lifetime,
  expiry,
]
