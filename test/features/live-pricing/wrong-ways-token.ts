import { CALLER } from './support.ts'
import { isPrices, isSearch, isStore, isToken, onGood, status, type Tamper } from './wrong-suppliers.ts'

/** Ways to break the rules of access. */
export const TOKEN_WAYS: Record<string, [string, Tamper][]> = {
  'token.answer': [
    ['500 for a token', status(isToken, 200, 500)],
    ['201 for a token', status(isToken, 200, 201)],
    [
      'a token as text',
      onGood(isToken, (answer) => {
        answer.body = '"token"'
      }),
    ],
  ],
  'token.fields': [
    [
      'four token fields',
      onGood(isToken, ({ body }) => {
        body.scope = 'prices'
      }),
    ],
    [
      'two token fields',
      onGood(isToken, ({ body }) => {
        delete body.token_type
      }),
    ],
  ],
  'token.expires_in': [
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
    [
      'expires_in with a fraction',
      onGood(isToken, ({ body }) => {
        body.expires_in = 0.5
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
        answer.body = { token: 'x', token_type: 'Bearer', expires_in: 5 }
      }),
    ],
  ],
  'token.no-store': [
    [
      'a token that may be stored',
      onGood(isToken, ({ headers }) => {
        headers['cache-control'] = 'public'
      }),
    ],
  ],
  'token.missing': [
    [
      '401 for a missing parameter',
      status((asked) => isToken(asked) && !asked.form.has('client_id'), 400, 401),
    ],
    ['400 as 200', status((asked) => isToken(asked) && !asked.form.has('grant_type'), 400, 200)],
  ],
  'token.grant-type': [
    ['a token for a password', status((asked) => asked.form.get('grant_type') === 'password', 400, 200)],
  ],
  'token.secret': [
    [
      '400 for a wrong secret',
      status((asked) => isToken(asked) && asked.form.get('client_id') === CALLER.id, 401, 400),
    ],
  ],
  'token.client': [
    [
      '404 for an unknown client',
      status((asked) => isToken(asked) && asked.form.get('client_id') !== CALLER.id, 401, 404),
    ],
  ],
  'access.required': [
    ['prices for anybody', status((asked) => isPrices(asked) && !asked.authorization, 401, 200, [])],
    ['403 without a token', status((asked) => isStore(asked) && !asked.authorization, 401, 403)],
  ],
  'access.invalid': [
    [
      'any token is accepted',
      status((asked) => isSearch(asked) && asked.authorization !== undefined, 401, 200, []),
    ],
    [
      'a token whose end is not checked',
      status((asked) => isPrices(asked) && /\beyJ.*x$/.test(asked.authorization ?? ''), 401, 200, []),
    ],
  ],
}
