import { PATHS } from '../contract.ts'
import type { Exchange } from './probe.ts'
import {
  Broken,
  expectStatus,
  isRecord,
  MADE_UP,
  NOWHERE,
  query,
  type Rule,
  type Subject,
  storePath,
  Unchecked,
} from './rule.ts'

const tokenFields = async ({ probe }: Subject): Promise<[Exchange, Record<string, unknown>]> => {
  const exchange = await probe.granted()
  if (exchange.status !== 200 || !isRecord(exchange.json))
    throw new Unchecked('no token was given (token.answer)')
  return [exchange, exchange.json]
}

const protectedCalls = [query(NOWHERE), storePath(MADE_UP), PATHS.prices]
const bodyOf = (path: string) => path === PATHS.prices && { method: 'POST', body: '{"items":[]}' }

async function refused(
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
    says: 'POST /connect/token with the right credentials is answered 200 with a JSON object.',
    async check({ probe }) {
      const exchange = await probe.granted()
      expectStatus(exchange, 200, 'A token request with the right credentials')
      if (!isRecord(exchange.json)) throw new Broken('The token answer must be a JSON object.', exchange)
      return exchange
    },
  },
  {
    id: 'token.fields',
    section: '2.1',
    basis: 'given',
    says: 'The token answer holds exactly three fields.',
    async check(subject) {
      const [exchange, json] = await tokenFields(subject)
      const names = Object.keys(json)
      if (names.length === 3) return exchange
      throw new Broken(
        `The token answer holds ${names.length} fields (${names.join(', ')}), not three.`,
        exchange,
      )
    },
  },
  {
    id: 'token.expires_in',
    section: '2.1',
    basis: 'given',
    says: 'expires_in is a whole number of seconds above 0.',
    async check(subject) {
      const [exchange, { expires_in: seconds }] = await tokenFields(subject)
      if (Number.isInteger(seconds) && Number(seconds) > 0) return exchange
      throw new Broken(`expires_in is ${JSON.stringify(seconds)}, not a whole number above 0.`, exchange)
    },
  },
  {
    id: 'token.names',
    section: '2.1',
    basis: 'assumed',
    says: 'The other two fields are access_token and token_type, which is Bearer.',
    async check(subject) {
      const [exchange, { access_token: token, token_type: type }] = await tokenFields(subject)
      if (typeof token !== 'string' || token === '') throw new Broken('access_token must be text.', exchange)
      if (typeof type === 'string' && type.toLowerCase() === 'bearer') return exchange
      throw new Broken('token_type must be Bearer.', exchange)
    },
  },
  {
    id: 'token.no-store',
    section: '2.1',
    basis: 'assumed',
    says: 'The token answer has Cache-Control: no-store (RFC 6749 section 5.1).',
    async check({ probe }) {
      const exchange = await probe.granted()
      if (/\bno-store\b/i.test(exchange.headers.get('cache-control') ?? '')) return exchange
      throw new Broken('The token answer must not be stored by what stands between.', exchange)
    },
  },
  {
    id: 'token.missing',
    section: '7',
    basis: 'given',
    says: 'A token request with a parameter missing, or none, is answered 400.',
    async check({ probe }) {
      const { grant_type, client_id, client_secret } = probe.credentials
      let last = await probe.ask({})
      expectStatus(last, 400, 'A token request without parameters')
      const partly = {
        grant_type: { client_id, client_secret },
        client_id: { grant_type, client_secret },
        client_secret: { grant_type, client_id },
      }
      for (const [name, fields] of Object.entries(partly)) {
        last = await probe.ask(fields)
        expectStatus(last, 400, `A token request without ${name}`)
      }
      return last
    },
  },
  {
    id: 'token.grant-type',
    section: '4.1',
    basis: 'assumed',
    says: 'Another grant type than client_credentials is answered 400.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, grant_type: 'password' })
      expectStatus(exchange, 400, 'A token request with grant_type=password')
      return exchange
    },
  },
  {
    id: 'token.secret',
    section: '7',
    basis: 'given',
    says: 'A wrong client_secret is answered 401.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, client_secret: `wrong-${MADE_UP}` })
      expectStatus(exchange, 401, 'A token request with a wrong secret')
      return exchange
    },
  },
  {
    id: 'token.client',
    section: '7',
    basis: 'given',
    says: 'A wrong client_id is answered 401.',
    async check({ probe }) {
      const exchange = await probe.ask({ ...probe.credentials, client_id: `nobody-${MADE_UP}` })
      expectStatus(exchange, 401, 'A token request with an unknown client id')
      return exchange
    },
  },
  {
    id: 'access.required',
    section: '5.1',
    basis: 'assumed',
    says: 'The other three calls are answered 401 without a token.',
    check: (subject) => refused(subject, undefined, 'A call without a token'),
  },
  {
    id: 'access.invalid',
    section: '5.1',
    basis: 'assumed',
    says: 'The other three calls are answered 401 with a token that was never issued, be it much like one that was.',
    async check(subject) {
      const exchange = await refused(subject, `Bearer ${MADE_UP}`, 'A call with a made-up token')
      const { json } = await subject.probe.granted()
      const token = isRecord(json) ? json.access_token : undefined
      if (typeof token !== 'string' || token.length < 8) return exchange
      const changed = `${token.slice(0, -6)}${[...token.slice(-6)].reverse().join('')}x`
      return refused(subject, `Bearer ${changed}`, 'A call with a token whose end was changed')
    },
  },
]
