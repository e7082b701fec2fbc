import type { Probe } from './exchange.ts'
import { type Checks, type Demand, demand, UNKNOWN_ID } from './rule.ts'
import { expectStaysValid } from './token-checks.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Texts that differ a little from `text`: each with a description. */
export function nearMisses(text: string): [description: string, text: string][] {
  const variants: [string, string][] = [
    ['in another letter case', otherCase(text)],
    ['without its last character', text.slice(0, -1)],
    ['without its first character', text.slice(1)],
    ['with a character added to its end', `${text}x`],
    ['with a character added to its start', `x${text}`],
  ]
  // The letter case of a UUID does not count.
  const isSame = (variant: string) =>
    variant === '' || (UUID.test(text) ? variant.toLowerCase() === text.toLowerCase() : variant === text)
  return variants.filter(([, variant]) => !isSame(variant))
}

/** The text with every letter in the other case. */
export const otherCase = (text: string) =>
  text.replace(/\p{L}/gu, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

/** With an accent, which some databases ignore when they compare. */
const accented = (text: string) =>
  /[a-z]/i.test(text) ? text.replace(/[a-z]/i, '$&\u0301').normalize() : `${text}\u0301`

interface Credentials {
  client_id: string
  client_secret: string
}

/** A token request that differs from a valid one: how, what it must return, and the credentials that are wrong. */
type WrongRequest = [description: string, must: Demand[1], changed: Partial<Credentials>]

/** A check that requests tokens with wrong credentials. */
const demandTokens = (listOf: (valid: Credentials, probe: Probe) => WrongRequest[]) =>
  demand(({ probe }) =>
    listOf(probe.credentials, probe).map(([description, must, changed]) => [
      `A token request ${description}`,
      must,
      () => probe.requestToken({ ...probe.credentials, ...changed }),
    ]),
  )

const WRONG_SECRET = { client_secret: `wrong-${UNKNOWN_ID}` }

/** Wrong credentials (specification 7). They come last, as an implementation may lock out a client that guesses. */
export const CREDENTIAL_CHECKS: Checks = {
  'token.client': demandTokens(() => [
    ['with an unknown client id', 401, { client_id: `nobody-${UNKNOWN_ID}` }],
  ]),
  'token.near-client': demandTokens((valid) =>
    nearMisses(valid.client_id).map(([how, id]) => [`with the client_id ${how}`, 401, { client_id: id }]),
  ),
  'token.secret': demandTokens(() => [['with an incorrect secret', 401, WRONG_SECRET]]),
  'token.unharmed': ({ probe }) =>
    expectStaysValid(
      probe,
      () => probe.requestToken({ ...probe.credentials, ...WRONG_SECRET }),
      'A token is refused after a token request with a wrong secret.',
    ),
  'token.empty-secret': demandTokens(() => [['with an empty secret', 'refusal', { client_secret: '' }]]),
  'token.near-secret': demandTokens((valid, { hide }) =>
    nearMisses(valid.client_secret).map(([how, secret]) => {
      hide(secret)
      return [`with the client_secret ${how}`, 401, { client_secret: secret }]
    }),
  ),
  'token.odd-credentials': demandTokens(({ client_id: id, client_secret: secret }) => [
    ['with spaces around the client_secret', 401, { client_secret: ` ${secret} ` }],
    ['with the client_id %', 401, { client_id: '%' }],
    ['with the client_id *', 401, { client_id: '*' }],
    ['with a quote after the client_id', 401, { client_id: `${id}'` }],
    // These may also be refused for their form.
    ['with 300 more characters in the client_secret', 'refusal', { client_secret: secret + 'x'.repeat(300) }],
    ['with an accent in the client_secret', 'refusal', { client_secret: accented(secret) }],
  ]),
}
