import { CLIENT } from './model-supplier.ts'
import { type Case, grant, isPrices, isSearch, isStore, isToken, onGood, open, status } from './tampers.ts'

const isGrant = (form: Record<string, string>) => form.grant_type === 'client_credentials'
const withId =
  (change: (id: string) => boolean) =>
  ({ form }: { form: Record<string, string> }) =>
    isGrant(form) && form.client_secret === CLIENT.secret && change(form.client_id ?? '')
const withSecret =
  (change: (secret: string) => boolean) =>
  ({ form }: { form: Record<string, string> }) =>
    isGrant(form) &&
    form.client_id === CLIENT.id &&
    form.client_secret !== undefined &&
    change(form.client_secret)
const bearerOf = ({ authorization = '' }: { authorization?: string | undefined }) =>
  authorization.replace('Bearer ', '')
const isKnown = (tokens: Map<string, number>, is: (token: string) => boolean) => [...tokens.keys()].some(is)

/** The number of tokens before the second of those whose requests overlap. */
const OVERLAPPING = 12

/** Suppliers with a fault of the token endpoint. */
export const WRONG_TOKENS: Record<string, Case[]> = {
  'token.answer': [
    ['500 for a token', status(isToken, 200, 500)],
    [
      'a token as text',
      onGood(isToken, (answer) => {
        answer.body = '"token"'
      }),
    ],
  ],
  'token.status': [['201 for a token', status(isToken, 200, 201)]],
  'token.encoding': [
    [
      'only JSON token requests',
      (asked, answer) => {
        if (isToken(asked) && asked.isForm) answer.status = 415
      },
    ],
  ],
  'token.fields': [
    [
      'four token fields',
      onGood(isToken, ({ body }) => {
        body.scope = 'prices'
      }),
    ],
  ],
  'token.at-once': [
    [
      'a later token that is refused at first',
      (asked, answer) => {
        // The one of the rule: after those of the rules before.
        const [, , , fourth] = asked.tokens.keys()
        if (fourth !== undefined && bearerOf(asked) === fourth && asked.ageMs < 1_000) answer.status = 401
      },
    ],
  ],
  'token.later': [
    [
      'four fields from the fifth token on',
      onGood(isToken, ({ body }, { tokens }) => {
        if (tokens.size > 4) body.scope = 'prices'
      }),
    ],
  ],
  'token.overlap': [
    [
      'a token that is refused, of several whose requests overlap',
      (asked, answer) => {
        // The second one of the rule: after those of the rules before.
        const token = [...asked.tokens.keys()][OVERLAPPING]
        if (token !== undefined && bearerOf(asked) === token) answer.status = 401
      },
    ],
  ],
  'token.unharmed': [
    [
      '401 for all tokens after a wrong secret',
      (asked, answer) => {
        if (isToken(asked) && answer.status === 401) asked.tokens.clear()
      },
    ],
  ],
  'token.odd-credentials': [
    ['a secret with spaces', grant(withSecret((secret) => secret.trim() === CLIENT.secret))],
    ['a wildcard as the client id', grant(withId((id) => id === '%'))],
    [
      'a secret with an accent',
      grant(withSecret((secret) => secret.normalize('NFD').replaceAll('\u0301', '') === CLIENT.secret)),
    ],
    [
      '500 for a long secret',
      status((asked) => isToken(asked) && (asked.form.client_secret?.length ?? 0) > 300, 401, 500),
    ],
  ],
  'token.expires_in': [
    [
      'the time of expiry as expires_in',
      onGood(isToken, ({ body }) => {
        body.expires_in = 1_800_000_000
      }),
    ],
    [
      'expires_in as text',
      onGood(isToken, ({ body }) => {
        body.expires_in = '900'
      }),
    ],
    [
      'expires_in of 0',
      onGood(isToken, ({ body }) => {
        body.expires_in = 0
      }),
    ],
  ],
  'token.names': [
    [
      'another token type',
      onGood(isToken, ({ body }) => {
        body.token_type = 'mac'
      }),
    ],
    [
      'another name of the token',
      onGood(isToken, (answer) => {
        answer.body = { token: answer.body.access_token, token_type: 'Bearer', expires_in: 900 }
      }),
    ],
  ],
  'token.no-store': [
    [
      'a token that may be cached',
      onGood(isToken, ({ headers }) => {
        headers['cache-control'] = 'public'
      }),
    ],
  ],
  'token.missing': [
    [
      '401 for a missing client_id',
      status((asked) => isToken(asked) && !('client_id' in asked.form), 400, 401),
    ],
    ['a token without grant_type', grant(({ form }) => form.client_secret !== undefined && !form.grant_type)],
  ],
  'token.malformed': [
    ['500 for a malformed request', status((asked) => isToken(asked) && '{}' in asked.form, 400, 500)],
    [
      '500 for JSON that is cut off',
      status((asked) => isToken(asked) && asked.json === undefined, 400, 500),
      { tokenJson: true },
    ],
    [
      '500 for JSON that is no object',
      status((asked) => isToken(asked) && asked.json === null, 400, 500),
      { tokenJson: true },
    ],
  ],
  'token.grant-type': [['a token for a password', grant(({ form }) => form.grant_type === 'password')]],
  'token.client': [
    [
      '404 for an unknown client',
      status((asked) => isToken(asked) && asked.form.client_id !== CLIENT.id, 401, 404),
    ],
    ['a token for any client id', grant(withId((id) => id !== ''))],
  ],
  'token.near-client': [
    [
      'a client id in another letter case',
      grant(withId((id) => id.toLowerCase() === CLIENT.id.toLowerCase())),
    ],
    ['a client id with a suffix', grant(withId((id) => id.startsWith(CLIENT.id)))],
  ],
  'token.secret': [
    [
      '400 for a wrong secret',
      status((asked) => isToken(asked) && asked.form.client_id === CLIENT.id, 401, 400),
    ],
    ['a token for any secret', grant(withSecret((secret) => secret !== ''))],
  ],
  'token.empty-secret': [['a token for an empty secret', grant(withSecret((secret) => secret === ''))]],
  'token.near-secret': [
    [
      'a secret in another letter case',
      grant(withSecret((secret) => secret.toLowerCase() === CLIENT.secret.toLowerCase())),
    ],
    [
      'the beginning of a secret',
      grant(withSecret((secret) => secret.length > 8 && CLIENT.secret.startsWith(secret))),
    ],
    ['a secret with a suffix', grant(withSecret((secret) => secret.startsWith(CLIENT.secret)))],
    ['a secret with a prefix', grant(withSecret((secret) => secret.endsWith(CLIENT.secret)))],
  ],
}

/** Suppliers with a fault in who may call. */
export const WRONG_ACCESS: Record<string, Case[]> = {
  'access.bearer': [
    [
      'a token that never works',
      (asked, answer) => {
        if (!isToken(asked)) answer.status = 401
      },
    ],
  ],
  'token.both-live': [
    [
      'a token that ends the one before',
      (asked, answer) => {
        const newest = [...asked.tokens.keys()].at(-1)
        if (!isToken(asked) && bearerOf(asked) !== newest) answer.status = 401
      },
    ],
  ],
  'access.required': [['prices for anybody', open((asked) => isPrices(asked) && !asked.authorization)]],
  'access.real-stores': [
    [
      'a store for anybody',
      open((asked) => isStore(asked) && asked.path === '/stores/sydney' && !asked.authorization),
    ],
  ],
  'access.real-items': [
    [
      'prices of real items for anybody',
      open((asked) => isPrices(asked) && !asked.authorization && asked.json?.items?.[0]?.itemId === 'FT-1'),
    ],
  ],
  'access.invalid': [['any token', open((asked) => isSearch(asked) && asked.authorization !== undefined)]],
  'access.near-token': [
    [
      'a token with a suffix',
      open((asked) => isKnown(asked.tokens, (token) => bearerOf(asked).startsWith(token))),
    ],
    [
      'a token in another letter case',
      open((asked) =>
        isKnown(asked.tokens, (token) => bearerOf(asked).toLowerCase() === token.toLowerCase()),
      ),
    ],
  ],
  'access.status': [['403 without a token', status((asked) => !isToken(asked), 401, 403)]],
  'token.lifetime': [
    [
      'a token that dies after 20 calls',
      (() => {
        const uses = new Map<string, number>()
        return (asked, answer) => {
          const token = bearerOf(asked)
          uses.set(token, (uses.get(token) ?? 0) + 1)
          if (!isToken(asked) && Number(uses.get(token)) > 20) answer.status = 401
        }
      })(),
    ],
  ],
}
