import { type Asked, CLIENT } from './model-supplier.ts'
import {
  body,
  type Cases,
  fields,
  grant,
  isPrices,
  isSearch,
  isStore,
  isToken,
  onGood,
  open,
  refusing,
  status,
} from './tampers.ts'

/** Gives a token for a client id or a secret, beside which all is right. */
const grantId = (accepts: (id: string) => boolean) =>
  grant(
    ({ form }) =>
      form.grant_type === 'client_credentials' &&
      form.client_secret === CLIENT.secret &&
      accepts(form.client_id ?? ''),
  )
const grantSecret = (accepts: (secret: string) => boolean) =>
  grant(
    ({ form }) =>
      form.grant_type === 'client_credentials' &&
      form.client_id === CLIENT.id &&
      form.client_secret !== undefined &&
      accepts(form.client_secret),
  )
const bearerOf = ({ authorization = '' }: Asked) => authorization.replace('Bearer ', '')
const isKnown = ({ tokens }: Asked, is: (token: string) => boolean) => [...tokens.keys()].some(is)
/** The token that was issued after so many others. A rule has its own after those of the rules before. */
const tokenAt = ({ tokens }: Asked, index: number) => [...tokens.keys()].at(index)
/** The number of tokens before the second of those whose requests overlap. */
const OVERLAPPING = 12

function refusedAfter(calls: number) {
  const uses = new Map<string, number>()
  return refusing((asked) => {
    const token = bearerOf(asked)
    uses.set(token, (uses.get(token) ?? 0) + 1)
    return !isToken(asked) && Number(uses.get(token)) > calls
  }, 401)
}

/** Suppliers with a fault of the token endpoint. */
export const WRONG_TOKENS: Record<string, Cases> = {
  'token.answer': {
    '500 for a token': status(isToken, 200, 500),
    'a token as text': body(isToken, () => '"token"'),
  },
  'token.status': { '201 for a token': status(isToken, 200, 201) },
  'token.encoding': { 'only JSON token requests': refusing((asked) => isToken(asked) && asked.isForm, 415) },
  'token.fields': { 'four token fields': fields(isToken, { scope: 'prices' }) },
  'token.at-once': {
    'a later token that is refused at first': refusing(
      (asked) => bearerOf(asked) === tokenAt(asked, 3) && asked.ageMs < 1_000,
      401,
    ),
  },
  'token.later': {
    'four fields from the fifth token on': body(isToken, (token, { tokens }) =>
      tokens.size > 4 ? { ...token, scope: 'prices' } : token,
    ),
  },
  'token.overlap': {
    'a token that is refused, of several whose requests overlap': refusing(
      (asked) => bearerOf(asked) === tokenAt(asked, OVERLAPPING),
      401,
    ),
  },
  'token.unharmed': {
    '401 for all tokens after a wrong secret': (asked, answer) => {
      if (isToken(asked) && answer.status === 401) asked.tokens.clear()
    },
  },
  'token.odd-credentials': {
    'a secret with spaces': grantSecret((secret) => secret.trim() === CLIENT.secret),
    'a wildcard as the client id': grantId((id) => id === '%'),
    'a secret with an accent': grantSecret(
      (secret) => secret.normalize('NFD').replaceAll('\u0301', '') === CLIENT.secret,
    ),
    '500 for a long secret': status(
      (asked) => isToken(asked) && (asked.form.client_secret?.length ?? 0) > 300,
      401,
      500,
    ),
  },
  'token.expires_in': {
    'the time of expiry as expires_in': fields(isToken, { expires_in: 1_800_000_000 }),
    'expires_in as text': fields(isToken, { expires_in: '900' }),
    'expires_in of 0': fields(isToken, { expires_in: 0 }),
    'a fraction of a second as expires_in': fields(isToken, { expires_in: 899.75 }),
  },
  'token.names': {
    'another token type': fields(isToken, { token_type: 'mac' }),
    'another name of the token': body(isToken, ({ access_token: token, ...rest }) => ({ token, ...rest })),
  },
  'token.no-store': {
    'a token that may be cached': onGood(isToken, ({ headers }) => {
      headers['cache-control'] = 'public'
    }),
  },
  'token.missing': {
    '401 for a missing client_id': status(
      (asked) => isToken(asked) && !('client_id' in asked.form),
      400,
      401,
    ),
    'a token without grant_type': grant(({ form }) => form.client_secret !== undefined && !form.grant_type),
  },
  'token.malformed': {
    '500 for a malformed request': status((asked) => isToken(asked) && '{}' in asked.form, 400, 500),
    '500 for JSON that is cut off': {
      tamper: status((asked) => isToken(asked) && asked.json === undefined, 400, 500),
      tokenJson: true,
    },
    '500 for JSON that is no object': {
      tamper: status((asked) => isToken(asked) && asked.json === null, 400, 500),
      tokenJson: true,
    },
  },
  'token.grant-type': { 'a token for a password': grant(({ form }) => form.grant_type === 'password') },
  'token.client': {
    '404 for an unknown client': status(
      (asked) => isToken(asked) && asked.form.client_id !== CLIENT.id,
      401,
      404,
    ),
    'a token for any client id': grantId((id) => id !== ''),
  },
  'token.near-client': {
    'a client id in another letter case': grantId((id) => id.toLowerCase() === CLIENT.id.toLowerCase()),
    'a client id with a suffix': grantId((id) => id.startsWith(CLIENT.id)),
  },
  'token.secret': {
    '400 for a wrong secret': status(
      (asked) => isToken(asked) && asked.form.client_id === CLIENT.id,
      401,
      400,
    ),
    'a token for any secret': grantSecret((secret) => secret !== ''),
  },
  'token.empty-secret': { 'a token for an empty secret': grantSecret((secret) => secret === '') },
  'token.near-secret': {
    'a secret in another letter case': grantSecret(
      (secret) => secret.toLowerCase() === CLIENT.secret.toLowerCase(),
    ),
    'the beginning of a secret': grantSecret(
      (secret) => secret.length > 8 && CLIENT.secret.startsWith(secret),
    ),
    'a secret with a suffix': grantSecret((secret) => secret.startsWith(CLIENT.secret)),
    'a secret with a prefix': grantSecret((secret) => secret.endsWith(CLIENT.secret)),
  },
}

/** Suppliers with a fault in who may call. */
export const WRONG_ACCESS: Record<string, Cases> = {
  'access.bearer': { 'a token that never works': refusing((asked) => !isToken(asked), 401) },
  'token.both-live': {
    'a token that ends the one before': refusing(
      (asked) => !isToken(asked) && bearerOf(asked) !== tokenAt(asked, -1),
      401,
    ),
  },
  'access.required': { 'prices for anybody': open((asked) => isPrices(asked) && !asked.authorization) },
  'access.real-stores': {
    'a store for anybody': open(({ path, authorization }) => path === '/stores/sydney' && !authorization),
  },
  'access.real-items': {
    'prices of real items for anybody': open(
      (asked) => isPrices(asked) && !asked.authorization && asked.json?.items?.[0]?.itemId === 'FT-1',
    ),
  },
  'access.invalid': { 'any token': open((asked) => isSearch(asked) && asked.authorization !== undefined) },
  'access.near-token': {
    'a token with a suffix': open((asked) => isKnown(asked, (token) => bearerOf(asked).startsWith(token))),
    'a token in another letter case': open((asked) =>
      isKnown(asked, (token) => bearerOf(asked).toLowerCase() === token.toLowerCase()),
    ),
  },
  'access.status': { '403 without a token': status((asked) => !isToken(asked), 401, 403) },
  'access.lasting': { '500 for lookups after some': lookupsFor(6) },
  'token.lifetime': { 'a token that dies after 20 calls': refusedAfter(20) },
}

/** Lookups that succeed so many times. */
function lookupsFor(lookups: number) {
  let count = 0
  return onGood(isStore, (answer) => {
    if (++count > lookups) answer.status = 500
  })
}
