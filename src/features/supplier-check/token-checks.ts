import { PATHS } from '../../supplier-api/contract.ts'
import { describe, type Exchange, isRecord, isRefused, isSuccess, type Probe } from './exchange.ts'
import { REMOTE_PLACE, searchPath, storePath } from './places.ts'
import {
  type Checks,
  type Demand,
  demand,
  expectAnswer,
  expectNoLimit,
  judge,
  NotCheckedError,
  RuleViolationError,
  type Subject,
  UNKNOWN_ID,
  withToken,
} from './rule.ts'
import { certainMs } from './token-keeper.ts'

/** The first token response: the first one sent, the one that succeeded, and its fields. */
async function tokenResponse({ probe }: Subject) {
  const { first, exchange } = await probe.granted()
  expectNoLimit(exchange)
  return { first, exchange, fields: isRecord(exchange.json) ? exchange.json : {} }
}

/** Ten years. */
const MAX_SECONDS = 315_360_000

function faultOfLifetime(seconds: unknown): string | undefined {
  if (Number(seconds) > MAX_SECONDS)
    return `expires_in is ${seconds}, which is more than ten years: it must be how long the token lives, in seconds, and not when it expires, as in "expires_in": 3600.`
  if (Number.isInteger(seconds) && Number(seconds) > 0) return undefined
  const found = seconds === undefined ? 'missing' : JSON.stringify(seconds)
  return `expires_in is ${found}: it must be a positive integer.`
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** Malformed token requests: the one in the encoding that is accepted must return 400. */
function malformedRequests({ probe }: Subject): Demand[] {
  const post = (body: string, type: string) => () =>
    probe.call(PATHS.token, { method: 'POST', body, headers: { 'content-type': type } })
  const cut = '{"grant_type":'
  const others = ['null', '[]', '{"client_id":1,"client_secret":2}'].map(
    (body): Demand => [`A token request with the JSON ${body}`, 'refusal', post(body, JSON_TYPE)],
  )
  if (probe.tokenEncoding() === 'json')
    return [...others, ['A malformed token request', 400, post(cut, JSON_TYPE)]]
  return [
    ...others,
    // It may also be refused for its type, as token requests are forms here.
    ['A token request with JSON that is cut off', 'refusal', post(cut, JSON_TYPE)],
    ['A malformed token request', 400, post('{}=', FORM_TYPE)],
  ]
}

/** How long after its issue a token may not be refused as one that is not valid yet, in ms. */
const AT_ONCE_MS = 1_500

/** The use of a new token, and whether it is accepted only later. */
async function useAtOnce({ probe }: Subject) {
  const token = await probe.newToken()
  if (!token) throw new NotCheckedError('no access token was issued')
  const exchange = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
  if (!isRefused(exchange)) return { exchange, isLate: false }
  await probe.clock.sleep(AT_ONCE_MS)
  const later = await probe.callAs(token.value, searchPath(REMOTE_PLACE))
  // Another rule finds out why.
  if (isRefused(later)) throw new NotCheckedError('the search refuses the token')
  return { exchange, isLate: true }
}

/** The first of three calls, one to each endpoint, that does not refuse the token; or the last one. */
async function firstUse(subject: Subject) {
  const search = await withToken(subject, searchPath(REMOTE_PLACE))
  if (!isRefused(search)) return { exchange: search }
  const lookup = await withToken(subject, storePath(UNKNOWN_ID))
  if (!isRefused(lookup)) return { exchange: lookup }
  return { exchange: await withToken(subject, PATHS.prices, { items: [] }) }
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

async function issueTwo({ probe }: Subject): Promise<Exchange> {
  const issueAnother = async () => {
    if (!(await probe.newToken())) throw new NotCheckedError('a third token was not issued')
  }
  return expectStaysValid(probe, issueAnother, 'A token is refused as soon as another one has been issued.')
}

/** The token (specification 2.1, 4.1, 7). */
export const TOKEN_CHECKS: Checks = {
  'token.answer': judge(tokenResponse, ({ exchange }) => {
    if (!isSuccess(exchange))
      return `A token request with valid credentials must succeed, not return ${describe(exchange)}.`
    return !isRecord(exchange.json) && 'The token response must be a JSON object.'
  }),
  'token.encoding': judge(
    async (subject) => {
      const { first, exchange } = await tokenResponse(subject)
      return { exchange: first, isOther: first !== exchange }
    },
    ({ exchange, isOther }) =>
      isOther &&
      `A form-encoded token request returned ${describe(exchange)}, and the same as JSON succeeded. The other rules use JSON.`,
  ),
  'token.status': demand(({ probe }) => [
    ['A token request with valid credentials', 200, async () => (await probe.granted()).exchange],
  ]),
  'token.fields': judge(tokenResponse, ({ fields }) => {
    const names = Object.keys(fields)
    return (
      names.length !== 3 && `The token response has ${names.length} fields (${names.join(', ')}), not three.`
    )
  }),
  'token.expires_in': judge(tokenResponse, ({ fields }) => faultOfLifetime(fields.expires_in)),
  'token.names': judge(tokenResponse, ({ fields: { access_token: token, token_type: type } }) => {
    if (typeof token !== 'string' || token === '') return 'access_token must be a text that is not empty.'
    return !(typeof type === 'string' && type.toLowerCase() === 'bearer') && 'token_type must be Bearer.'
  }),
  'token.no-store': judge(
    tokenResponse,
    ({ exchange }) =>
      !/\bno-store\b/i.test(exchange.headers.get('cache-control') ?? '') &&
      'The token response must not be cached: Cache-Control: no-store is missing.',
  ),
  'token.missing': demand(({ probe }) => {
    const { grant_type, client_id, client_secret } = probe.credentials
    return [
      ['A token request without parameters', 400, () => probe.requestToken({})],
      ['A token request without grant_type', 400, () => probe.requestToken({ client_id, client_secret })],
      ['A token request without client_id', 400, () => probe.requestToken({ grant_type, client_secret })],
      ['A token request without client_secret', 400, () => probe.requestToken({ grant_type, client_id })],
    ]
  }),
  'token.malformed': demand(malformedRequests),
  'token.grant-type': demand(({ probe }) => {
    const wrong = { ...probe.credentials, grant_type: 'password' }
    return [['A token request with grant_type=password', 400, () => probe.requestToken(wrong)]]
  }),
  'access.bearer': judge(
    firstUse,
    ({ exchange }) => isRefused(exchange) && 'All three endpoints refuse the token as Authorization: Bearer.',
  ),
  'token.both-live': issueTwo,
  'token.at-once': judge(
    useAtOnce,
    ({ isLate }) => isLate && 'A token is refused when it is new, and accepted a second later.',
  ),
}
