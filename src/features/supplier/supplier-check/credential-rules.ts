import type { Credentials } from './client.ts'
import { expectStatus, inTurn } from './outcomes.ts'
import { type Rule, type Rules, UNKNOWN_ID } from './rule.ts'

/** What a token request sends, and how a message calls it. */
type Attempt = [what: string, sent: Record<string, string> | string, as?: 'form' | 'json']

/** A rule that these token requests are answered with one of these statuses. */
const refused = (
  sentence: string,
  statuses: readonly number[],
  attemptsOf: (valid: Credentials) => Attempt[],
): Rule => ({
  given: ['7', sentence],
  needs: ['token.issued'],
  check: ({ client }) =>
    inTurn(attemptsOf(client.credentials), async ([what, sent, as]) => {
      const exchange = await client.requestToken(sent, as)
      return expectStatus(exchange, statuses, `A token request with ${what}`)
    }),
})

/** Credentials that are valid, except for one that is almost right. */
const almost = (valid: Credentials, name: keyof Credentials): Attempt[] => {
  const right = valid[name]
  const all: [string, string][] = [
    ['in capitals', right.toUpperCase()],
    ['in small letters', right.toLowerCase()],
    ['without its last character', right.slice(0, -1)],
    ['with one more character', `${right}x`],
  ]
  return all
    .filter(([, near]) => near !== right && near !== '')
    .map(([difference, near]) => [`the ${name} ${difference}`, { ...valid, [name]: near }])
}

/** Valid credentials with a space before or after one of them. */
const blanks = (valid: Credentials, name: keyof Credentials): Attempt[] => [
  [`a space at the end of ${name}`, { ...valid, [name]: `${valid[name]} ` }],
  [`a space before ${name}`, { ...valid, [name]: ` ${valid[name]}` }],
]

/** Token requests that are refused (specification 7). */
export const CREDENTIAL_RULES: Rules = {
  'token.missing': refused(
    'A token request without one of its three parameters returns 400.',
    [400],
    (valid) =>
      Object.keys(valid).map((missing) => [
        `no ${missing}`,
        Object.fromEntries(Object.entries(valid).filter(([name]) => name !== missing)),
      ]),
  ),
  'token.malformed': refused('A malformed token request returns 400 (or 415).', [400, 415], () => [
    ['a malformed form', 'grant_type%%%&&=%', 'form'],
    ['JSON that is cut off', '{"grant_type": "client_cred', 'json'],
    ['an empty body', ''],
  ]),
  'token.empty-secret': refused('An empty client_secret returns 400 or 401.', [400, 401], (valid) => [
    ['an empty client_secret', { ...valid, client_secret: '' }],
  ]),
  'token.other-client': refused('Another client_id, even a similar one, returns 401.', [401], (valid) => [
    ['an unknown client_id', { ...valid, client_id: UNKNOWN_ID }],
    ['% as client_id', { ...valid, client_id: '%' }],
    ...almost(valid, 'client_id'),
    ...blanks(valid, 'client_id'),
  ]),
  'token.wrong-secret': refused('A wrong client_secret, even a similar one, returns 401.', [401], (valid) => [
    ['a wrong client_secret', { ...valid, client_secret: UNKNOWN_ID }],
    ...almost(valid, 'client_secret'),
  ]),
  'token.blank-secret': refused(
    'A client_secret with a space before or after it returns 401.',
    [401],
    (valid) => blanks(valid, 'client_secret'),
  ),
}
