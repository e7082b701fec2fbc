import { PATHS } from '../contract.ts'
import type { Exchange } from './probe.ts'
import {
  expectStatus,
  isRecord,
  NotCheckedError,
  query,
  REMOTE_PLACE,
  type Rule,
  RuleViolationError,
  type Subject,
  storePath,
  UNKNOWN_ID,
} from './rule.ts'

const tokenFields = async ({ probe }: Subject): Promise<[Exchange, Record<string, unknown>]> => {
  const exchange = await probe.granted()
  if (exchange.status !== 200 || !isRecord(exchange.json))
    throw new NotCheckedError('no token was issued (see token.answer)')
  return [exchange, exchange.json]
}

const protectedCalls = [query(REMOTE_PLACE), storePath(UNKNOWN_ID), PATHS.prices]
const bodyOf = (path: string) => path === PATHS.prices && { method: 'POST', body: '{"items":[]}' }

async function expectUnauthorized(
  { probe }: Subject,
  authorization: string | undefined,
  when: string,
): Promise<Exchange> {
  let last: Exchange | undefined
  for (const path of protectedCalls) {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    last = await probe.call(path, { ...bodyOf(path), headers })
    expectStatus(last, 401, when)
  }
  return last as Exchange
}

/** Access (specification 2.1, 4.1, 5.1, 7). */
export const TOKEN_RULES: Rule[] = [
  {
    id: 'token.answer',
    section: '4.1',
    basis: 'given',
    requirement: 'POST /connect/token with valid credentials returns 200 with a JSON object.',
    async check({ probe }) {
      const exchange = await probe.granted()
      expectStatus(exchange, 200, 'A token request with valid credentials')
      if (!isRecord(exchange.json))
        throw new RuleViolationError('The token response must be a JSON object.', exchange)
      return exchange
    },
  },
  {
    id: 'token.fields',
    section: '2.1',
    basis: 'given',
    requirement: 'The token response has exactly three fields.',
    async check(subject) {
      const [exchange, json] = await tokenFields(subject)
      const names = Object.keys(json)
      if (names.length === 3) return exchange
      throw new RuleViolationError(
        `The token response has ${names.length} fields (${names.join(', ')}), not three.`,
        exchange,
      )
    },
  },
  {
    id: 'token.expires_in',
    section: '2.1',
    basis: 'given',
    requirement: 'expires_in is a positive integer (seconds).',
    async check(subject) {
      const [exchange, { expires_in: seconds }] = await tokenFields(subject)
      if (Number.isInteger(seconds) && Number(seconds) > 0) return exchange
      throw new RuleViolationError(
        `expires_in is ${JSON.stringify(seconds)}, not a positive integer.`,
        exchange,
      )
    },
  },
  {
    id: 'token.names',
    section: '2.1',
    basis: 'assumed',
    requirement: 'The other two fields are access_token and token_type, which is Bearer.',
    async check(subject) {
      const [exchange, { access_token: token, token_type: type }] = await tokenFields(subject)
      if (typeof token !== 'string' || token === '')
        throw new RuleViolationError('access_token must be a non-empty string.', exchange)
      if (typeof type === 'string' && type.toLowerCase() === 'bearer') return exchange
      throw new RuleViolationError('token_type must be Bearer.', exchange)
    },
  },
  {
    id: 'token.no-store',
    section: '2.1',
    basis: 'assumed',
    requirement: 'The token response has Cache-Control: no-store (RFC 6749 section 5.1).',
    async check({ probe }) {
      const exchange = await probe.granted()
      if (/\bno-store\b/i.test(exchange.headers.get('cache-control') ?? '')) return exchange
      throw new RuleViolationError(
        'The token response must not be cached: Cache-Control: no-store is missing.',
        exchange,
      )
    },
  },
  {
    id: 'token.missing',
    section: '7',
    basis: 'given',
    requirement: 'A token request with missing parameters returns 400.',
    async check({ probe }) {
      const { grant_type, client_id, client_secret } = probe.credentials
      let last = await probe.requestToken({})
      expectStatus(last, 400, 'A token request without parameters')
      const partly = {
        grant_type: { client_id, client_secret },
        client_id: { grant_type, client_secret },
        client_secret: { grant_type, client_id },
      }
      for (const [name, fields] of Object.entries(partly)) {
        last = await probe.requestToken(fields)
        expectStatus(last, 400, `A token request without ${name}`)
      }
      return last
    },
  },
  {
    id: 'token.grant-type',
    section: '4.1',
    basis: 'assumed',
    requirement: 'A grant type other than client_credentials returns 400.',
    async check({ probe }) {
      const exchange = await probe.requestToken({ ...probe.credentials, grant_type: 'password' })
      expectStatus(exchange, 400, 'A token request with grant_type=password')
      return exchange
    },
  },
  {
    id: 'token.secret',
    section: '7',
    basis: 'given',
    requirement: 'An incorrect client_secret returns 401.',
    async check({ probe }) {
      const exchange = await probe.requestToken({
        ...probe.credentials,
        client_secret: `wrong-${UNKNOWN_ID}`,
      })
      expectStatus(exchange, 401, 'A token request with an incorrect secret')
      return exchange
    },
  },
  {
    id: 'token.client',
    section: '7',
    basis: 'given',
    requirement: 'An unknown client_id returns 401.',
    async check({ probe }) {
      const exchange = await probe.requestToken({ ...probe.credentials, client_id: `nobody-${UNKNOWN_ID}` })
      expectStatus(exchange, 401, 'A token request with an unknown client id')
      return exchange
    },
  },
  {
    id: 'access.required',
    section: '5.1',
    basis: 'assumed',
    requirement: 'The other three endpoints return 401 without a token.',
    check: (subject) => expectUnauthorized(subject, undefined, 'A call without a token'),
  },
  {
    id: 'access.invalid',
    section: '5.1',
    basis: 'assumed',
    requirement: 'The other three endpoints return 401 for an invalid token, including a modified valid one.',
    async check(subject) {
      const exchange = await expectUnauthorized(
        subject,
        `Bearer ${UNKNOWN_ID}`,
        'A call with a made-up token',
      )
      const { json } = await subject.probe.granted()
      const token = isRecord(json) ? json.access_token : undefined
      if (typeof token !== 'string' || token.length < 8) return exchange
      const changed = `${token.slice(0, -6)}${[...token.slice(-6)].reverse().join('')}x`
      return expectUnauthorized(subject, `Bearer ${changed}`, 'A call with a modified token')
    },
  },
]
