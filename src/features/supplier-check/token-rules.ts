import { PATHS } from '../../supplier-api/contract.ts'
import { describe, type Exchange, isRecord, isRefused, isSuccess, type Probe } from './exchange.ts'
import { REMOTE_PLACE, searchPath } from './places.ts'
import {
  expectAnswer,
  expectNoLimit,
  expectRefused,
  expectStatus,
  NotCheckedError,
  type Rule,
  RuleViolationError,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import { certainMs } from './token-keeper.ts'

async function tokenFields({ probe }: Subject): Promise<[Exchange, Record<string, unknown>]> {
  const { exchange } = await probe.granted()
  return [exchange, isRecord(exchange.json) ? exchange.json : {}]
}

const answer: Rule = {
  id: 'token.answer',
  title: 'POST /connect/token with valid credentials returns a JSON object.',
  given: '§4.1',
  needs: [],
  async check({ probe }) {
    const { exchange } = await probe.granted()
    expectNoLimit(exchange)
    if (!isSuccess(exchange))
      throw new RuleViolationError(
        `A token request with valid credentials must succeed, not return ${describe(exchange)}.`,
        exchange,
      )
    if (!isRecord(exchange.json))
      throw new RuleViolationError('The token response must be a JSON object.', exchange)
    return exchange
  },
}

const status: Rule = {
  id: 'token.status',
  title: 'The status of the token response is 200.',
  given: undefined,
  needs: ['token.answer'],
  async check({ probe }) {
    const { exchange } = await probe.granted()
    expectStatus(exchange, 200, 'A token request with valid credentials')
    return exchange
  },
}

const encoding: Rule = {
  id: 'token.encoding',
  title: 'The token request is accepted in the encoding asked for: form-encoded, or JSON with --token-json.',
  given: undefined,
  needs: ['token.answer'],
  async check({ probe }) {
    const { first, exchange } = await probe.granted()
    if (first === exchange) return exchange
    throw new RuleViolationError(
      `A form-encoded token request returned ${describe(first)}, and the same as JSON succeeded. The other rules use JSON.`,
      first,
    )
  },
}

const fields: Rule = {
  id: 'token.fields',
  title: 'The token response has exactly three fields.',
  given: '§2.1',
  needs: ['token.answer'],
  async check(subject) {
    const [exchange, json] = await tokenFields(subject)
    const names = Object.keys(json)
    if (names.length === 3) return exchange
    throw new RuleViolationError(
      `The token response has ${names.length} fields (${names.join(', ')}), not three.`,
      exchange,
    )
  },
}

/** Ten years. */
const MAX_SECONDS = 315_360_000

const expiresIn: Rule = {
  id: 'token.expires_in',
  title: 'expires_in is a positive integer, in seconds.',
  given: '§2.1',
  needs: ['token.answer'],
  async check(subject) {
    const [exchange, { expires_in: seconds }] = await tokenFields(subject)
    if (Number(seconds) > MAX_SECONDS)
      throw new RuleViolationError(
        `expires_in is ${seconds}, which is more than ten years: it must be how long the token lives, in seconds, and not when it expires, as in "expires_in": 3600.`,
        exchange,
      )
    if (Number.isInteger(seconds) && Number(seconds) > 0) return exchange
    const found = seconds === undefined ? 'missing' : JSON.stringify(seconds)
    throw new RuleViolationError(`expires_in is ${found}: it must be a positive integer.`, exchange)
  },
}

const names: Rule = {
  id: 'token.names',
  title: 'The other two fields are access_token, a text, and token_type, which is Bearer in any letter case.',
  given: undefined,
  needs: ['token.fields'],
  async check(subject) {
    const [exchange, { access_token: token, token_type: type }] = await tokenFields(subject)
    if (typeof token !== 'string' || token === '')
      throw new RuleViolationError('access_token must be a text that is not empty.', exchange)
    if (typeof type === 'string' && type.toLowerCase() === 'bearer') return exchange
    throw new RuleViolationError('token_type must be Bearer.', exchange)
  },
}

const noStore: Rule = {
  id: 'token.no-store',
  title: 'The token response has Cache-Control: no-store (RFC 6749 section 5.1).',
  given: undefined,
  needs: ['token.answer'],
  async check({ probe }) {
    const { exchange } = await probe.granted()
    if (/\bno-store\b/i.test(exchange.headers.get('cache-control') ?? '')) return exchange
    throw new RuleViolationError(
      'The token response must not be cached: Cache-Control: no-store is missing.',
      exchange,
    )
  },
}

const missing: Rule = {
  id: 'token.missing',
  title: 'A token request without grant_type, client_id or client_secret returns 400.',
  given: '§7',
  needs: ['token.answer'],
  async check({ probe }) {
    const { grant_type, client_id, client_secret } = probe.credentials
    const incomplete: [string, Record<string, string>][] = [
      ['parameters', {}],
      ['grant_type', { client_id, client_secret }],
      ['client_id', { grant_type, client_secret }],
      ['client_secret', { grant_type, client_id }],
    ]
    let last: Exchange | undefined
    for (const [name, sent] of incomplete) {
      last = await probe.requestToken(sent)
      expectStatus(last, 400, `A token request without ${name}`)
    }
    return last as Exchange
  },
}

const malformed: Rule = {
  id: 'token.malformed',
  title: 'A malformed token request, such as JSON that is cut off, returns 400.',
  given: '§7',
  needs: ['token.answer', 'token.missing'],
  async check({ probe }) {
    const isJson = probe.tokenEncoding() === 'json'
    const exchange = await probe.call(PATHS.token, {
      method: 'POST',
      body: isJson ? '{"grant_type":' : '{}=',
      headers: { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' },
    })
    expectStatus(exchange, 400, 'A malformed token request')
    for (const body of ['null', '[]', '{"client_id":1,"client_secret":2}']) {
      const headers = { 'content-type': 'application/json' }
      const other = await probe.call(PATHS.token, { method: 'POST', body, headers })
      expectRefused(other, `A token request with the JSON ${body}`)
    }
    if (isJson) return exchange
    const json = await probe.call(PATHS.token, {
      method: 'POST',
      body: '{"grant_type":',
      headers: { 'content-type': 'application/json' },
    })
    // It may also be refused for its type, as token requests are forms here.
    expectRefused(json, 'A token request with JSON that is cut off')
    return exchange
  },
}

const grantType: Rule = {
  id: 'token.grant-type',
  title: 'A grant type other than client_credentials returns 400.',
  given: undefined,
  needs: ['token.missing'],
  async check({ probe }) {
    const exchange = await probe.requestToken({ ...probe.credentials, grant_type: 'password' })
    expectStatus(exchange, 400, 'A token request with grant_type=password')
    return exchange
  },
}

/** How long after its issue a token may not be refused as one that is not valid yet, in ms. */
const AT_ONCE_MS = 1_500

const atOnce: Rule = {
  id: 'token.at-once',
  title: 'A token is valid as soon as it has been issued.',
  given: '§2.1',
  needs: ['token.both-live'],
  async check({ probe }) {
    const token = await probe.newToken()
    if (!token) throw new NotCheckedError('no access token was issued')
    const exchange = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
    if (!isRefused(exchange)) return exchange
    await probe.clock.sleep(AT_ONCE_MS)
    const later = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
    if (!isRefused(later))
      throw new RuleViolationError(
        'A token is refused when it is new, and accepted a second later.',
        exchange,
      )
    // Another rule finds out why.
    throw new NotCheckedError('the search refuses the token')
  },
}

const bearer: Rule = {
  id: 'access.bearer',
  title: 'The endpoints for stores and prices accept the token as Authorization: Bearer.',
  given: undefined,
  needs: ['token.answer'],
  async check(subject) {
    const calls: [string, unknown?][] = [
      [searchPath(REMOTE_PLACE)],
      [PATHS.store.replace('{id}', UNKNOWN_ID)],
      [PATHS.prices, { items: [] }],
    ]
    let last: Exchange | undefined
    for (const [path, body] of calls) {
      last = await withToken(subject, path, body)
      if (!isRefused(last)) return last
    }
    throw new RuleViolationError(
      'All three endpoints refuse the token as Authorization: Bearer.',
      last as Exchange,
    )
  },
}

/**
 * Expects that a token is still accepted after `meanwhile`. Throws `RuleViolationError` with this reason if not, and
 * `NotCheckedError` if tokens are refused or expire anyway.
 */
export async function expectStaysValid(
  probe: Probe,
  meanwhile: () => Promise<unknown>,
  reason: string,
): Promise<Exchange> {
  const path = searchPath(REMOTE_PLACE)
  const token = await probe.newToken()
  const before = token && (await probe.callAs(token.value, path))
  if (!before || isRefused(before)) throw new NotCheckedError('another token was not issued or is refused')
  await meanwhile()
  const exchange = await probe.callAs(token.value, path)
  if (probe.clock.now() - token.exchange.sentAt >= certainMs(token))
    throw new NotCheckedError('tokens do not live for longer than a few calls')
  if (isRefused(exchange)) throw new RuleViolationError(reason, exchange)
  expectAnswer(exchange)
  return exchange
}

const bothLive: Rule = {
  id: 'token.both-live',
  title: 'A token stays valid when another one is issued.',
  given: '§2.1',
  needs: ['access.bearer'],
  async check({ probe }) {
    const issueAnother = async () => {
      if (!(await probe.newToken())) throw new NotCheckedError('a third token was not issued')
    }
    return expectStaysValid(probe, issueAnother, 'A token is refused as soon as another one has been issued.')
  },
}

/** The token (specification 2.1, 4.1, 7). */
export const TOKEN_RULES: Rule[] = [
  answer,
  encoding,
  status,
  fields,
  expiresIn,
  names,
  noStore,
  missing,
  malformed,
  grantType,
  bearer,
  bothLive,
  atOnce,
]
