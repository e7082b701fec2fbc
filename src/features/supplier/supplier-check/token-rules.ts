import { PATHS } from '../api/contract.ts'
import { certainMs, type SupplierClient, searchPath, storePath } from './client.ts'
import { REMOTE_PLACE } from './geography.ts'
import { describe, type Exchange, isRefused, isSuccess } from './http.ts'
import { expectThat, inTurn, UnprovenError } from './outcomes.ts'
import { isRecord, readTokens, type Token } from './read.ts'
import { type Rules, UNKNOWN_ID } from './rule.ts'

/** The endpoints that need a token, as calls that change nothing and find nothing. */
const ENDPOINTS: readonly { path: string; body?: unknown }[] = [
  { path: storePath(UNKNOWN_ID) },
  { path: searchPath(REMOTE_PLACE) },
  { path: PATHS.prices, body: { items: [{ itemId: UNKNOWN_ID, storeId: UNKNOWN_ID, quantity: 1 }] } },
]

/** How many more tokens are requested. */
const MORE = 5

/** The age at which a long-lived token is tried last, and how long servers may accept a token that has ended, in ms. */
const [SAMPLE_MS, LEEWAY_MS] = [5_000, 30_000]

/** Calls each endpoint with this token, or without one. */
async function callAll(client: SupplierClient, token: string | undefined): Promise<Exchange[]> {
  const answers: Exchange[] = []
  for (const { path, body } of ENDPOINTS) answers.push(await client.withBearer(token, path, body))
  return answers
}

/** Calls the lookup, whose request the specification shows whole, with a token. Throws `UnprovenError` if it fails. */
async function tryToken(client: SupplierClient, { value }: Token): Promise<Exchange> {
  const exchange = await client.withBearer(value, storePath(UNKNOWN_ID))
  if (exchange.status > 0 && exchange.status < 500) return exchange
  throw new UnprovenError(`GET /stores/{id} returns ${describe(exchange)}`)
}

/** Throws `WrongError` if a token is refused that is still valid. `when` completes "A token is refused". */
async function expectAccepted(client: SupplierClient, token: Token, when: string): Promise<Exchange> {
  if (client.ageMs(token) > certainMs(token)) throw new UnprovenError('the token ends before it can be tried')
  const exchange = await tryToken(client, token)
  return expectThat(!isRefused(exchange), exchange, `A token is refused ${when}.`)
}

/** Waits until a token is as old as this, in ms. */
const waitUntil = (client: SupplierClient, token: Token, ageMs: number) =>
  client.clock.sleep(Math.max(0, ageMs - client.ageMs(token)))

/** Waits until a token is refused. Throws `WrongError` if clocks that differ cannot explain that it still is not. */
async function expectEnd(client: SupplierClient, token: Token): Promise<Exchange> {
  const endMs = token.expiresIn * 1000
  await waitUntil(client, token, endMs + 1_000)
  if (!isRefused(await tryToken(client, token))) await waitUntil(client, token, endMs + LEEWAY_MS)
  const exchange = await tryToken(client, token)
  const message = `A token that is valid for ${token.expiresIn} s is accepted after ${client.ageMs(token) / 1000} s.`
  return expectThat(isRefused(exchange), exchange, message)
}

/** The token endpoint (specification 2.1, 4.1, 5.1). */
export const TOKEN_RULES: Rules = {
  'token.issued': {
    given: [
      '4.1',
      'POST /connect/token with client_credentials, a client id and its secret returns a token.',
    ],
    async check({ client }) {
      const answer = await client.grant()
      const status = `The token request returns ${describe(answer)}. Are id and secret of the client right?`
      expectThat(isSuccess(answer), answer, status)
      const message = 'The token response is no JSON object with a token.'
      return expectThat(readTokens(answer).length > 0, answer, message)
    },
  },
  'token.accepted': {
    given: ['5.1', 'The endpoints for stores and prices accept the token.'],
    needs: ['token.issued'],
    async check({ client }) {
      const answers = await callAll(client, (await client.firstToken()).value)
      if (answers.every(isRefused))
        throw new UnprovenError('every endpoint refuses the token, as Authorization: Bearer')
      const message = 'An endpoint refuses the token that another one accepts.'
      return inTurn(answers, (answer) => expectThat(!isRefused(answer), answer, message))
    },
  },
  'token.not-ended': {
    given: ['2.1', 'A token stays valid when another is issued, and when a token request is refused.'],
    needs: ['token.accepted'],
    async check({ client }) {
      const tokens = [await client.newToken()]
      await client.requestToken({ ...client.credentials, client_secret: UNKNOWN_ID })
      await inTurn(tokens, (token) => expectAccepted(client, token, 'after one with a wrong secret'))
      for (let index = 0; index < MORE; index++) tokens.push(await client.newToken())
      return inTurn([...tokens.entries()], ([index, token]) =>
        expectAccepted(client, token, `when ${MORE - index} more have been issued`),
      )
    },
  },
  'token.three-fields': {
    given: ['2.1', 'Every token response holds exactly three fields.'],
    needs: ['token.issued'],
    check: ({ client }) =>
      inTurn(client.tokens, ({ exchange }) => {
        const names = isRecord(exchange.json) ? Object.keys(exchange.json) : []
        const message = `A token response holds ${names.length} fields: ${names.join(', ')}.`
        return expectThat(names.length === 3, exchange, message)
      }),
  },
  'token.expires-in': {
    given: ['2.1', 'Every token response has expires_in, a whole number of seconds above 0.'],
    needs: ['token.issued'],
    check: ({ client }) =>
      inTurn(client.tokens, ({ exchange }) => {
        const value = isRecord(exchange.json) ? exchange.json.expires_in : undefined
        const holds = typeof value === 'number' && Number.isInteger(value) && value > 0
        return expectThat(holds, exchange, `expires_in is ${JSON.stringify(value) ?? 'missing'}.`)
      }),
  },
}

/** The life of a token, at the end of the check, when the first one is old (specification 2.1, 5.1). */
export const LIFETIME_RULES: Rules = {
  'token.made-up': {
    given: ['5.1', 'The endpoints refuse a token that was never issued.'],
    needs: ['token.accepted'],
    async check({ client }) {
      // A 404 comes after the check of the token, so such a call was let through as well.
      const isServed = (answer: Exchange) => isSuccess(answer) || answer.status === 404
      const open = (await callAll(client, undefined)).find(isServed)
      const path = open?.request.split('\n')[0]
      if (open) throw new UnprovenError(`${path} needs no token; how one is presented is not shown`)
      const { value } = await client.newToken()
      const answers: Exchange[] = []
      for (const madeUp of [UNKNOWN_ID, `${value}xyz`, value.slice(0, -3)])
        answers.push(...(await callAll(client, madeUp)))
      return inTurn(answers, (answer) =>
        expectThat(!isServed(answer), answer, `A made-up token is answered with ${describe(answer)}.`),
      )
    },
  },
  'token.lifetime': {
    given: [
      '2.1',
      'A token is accepted for its whole life (expires_in). If that is longer than --wait, only its first seconds are checked.',
    ],
    needs: ['token.accepted', 'token.expires-in'],
    async check({ client, known }) {
      const [early] = client.earlyEnds
      if (early) throw early
      const first = await client.firstToken()
      const isOver = client.ageMs(first) > certainMs(first) - SAMPLE_MS
      const token = isOver ? await client.newToken() : first
      const lastMs = certainMs(token) - 100
      await waitUntil(client, token, lastMs <= known.waitMs ? lastMs : Math.min(SAMPLE_MS, known.waitMs))
      const when = `after ${client.ageMs(token) / 1000} s, though it is valid for ${token.expiresIn} s`
      return expectAccepted(client, token, when)
    },
  },
  'token.end': {
    given: ['2.1', 'A token is refused after its life, if that is no longer than --wait.'],
    needs: ['token.made-up', 'token.lifetime'],
    async check({ client, known }) {
      const token = await client.newToken()
      return token.expiresIn * 1000 <= known.waitMs ? expectEnd(client, token) : token.exchange
    },
  },
}
