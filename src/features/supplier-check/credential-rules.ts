import type { Exchange } from './exchange.ts'
import { expectRefused, expectStatus, NotCheckedError, type Rule, type Subject, UNKNOWN_ID } from './rule.ts'
import { expectStaysValid } from './token-rules.ts'

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

/** Requests tokens with near misses of a credential: each must return 401. */
async function expectNearMissesRefused(
  { probe }: Subject,
  name: 'client_id' | 'client_secret',
): Promise<Exchange> {
  let last: Exchange | undefined
  for (const [description, value] of nearMisses(probe.credentials[name])) {
    if (name === 'client_secret') probe.hide(value)
    last = await probe.requestToken({ ...probe.credentials, [name]: value })
    expectStatus(last, 401, `A token request with the ${name} ${description}`)
  }
  if (!last) throw new NotCheckedError(`the ${name} is empty`)
  return last
}

const secret: Rule = {
  id: 'token.secret',
  title: 'An incorrect client_secret returns 401.',
  given: '§7',
  needs: ['token.answer'],
  async check({ probe }) {
    const exchange = await probe.requestToken({
      ...probe.credentials,
      client_secret: `wrong-${UNKNOWN_ID}`,
    })
    expectStatus(exchange, 401, 'A token request with an incorrect secret')
    return exchange
  },
}

const client: Rule = {
  id: 'token.client',
  title: 'An unknown client_id returns 401.',
  given: '§7',
  needs: ['token.answer'],
  async check({ probe }) {
    const exchange = await probe.requestToken({ ...probe.credentials, client_id: `nobody-${UNKNOWN_ID}` })
    expectStatus(exchange, 401, 'A token request with an unknown client id')
    return exchange
  },
}

const emptySecret: Rule = {
  id: 'token.empty-secret',
  title: 'An empty client_secret does not get a token.',
  given: '§7',
  needs: ['token.missing', 'token.secret'],
  async check({ probe }) {
    const exchange = await probe.requestToken({ ...probe.credentials, client_secret: '' })
    expectRefused(exchange, 'A token request with an empty secret')
    return exchange
  },
}

const nearSecret: Rule = {
  id: 'token.near-secret',
  title: 'A client_secret that is almost right (letter case, a character more or less) returns 401.',
  given: '§7',
  needs: ['token.secret'],
  check: (subject) => expectNearMissesRefused(subject, 'client_secret'),
}

const nearClient: Rule = {
  id: 'token.near-client',
  title: 'A client_id that is almost right (letter case, a character more or less) returns 401.',
  given: '§7',
  needs: ['token.client'],
  check: (subject) => expectNearMissesRefused(subject, 'client_id'),
}

/** With an accent, which some databases ignore when they compare. */
const accented = (text: string) =>
  /[a-z]/i.test(text) ? text.replace(/[a-z]/i, '$&\u0301').normalize() : `${text}\u0301`

const odd: Rule = {
  id: 'token.odd-credentials',
  title:
    'Credentials with spaces around them or with wildcards return 401, and others that are unusual no token.',
  given: '§7',
  needs: ['token.near-secret', 'token.near-client'],
  async check({ probe }) {
    const { client_id, client_secret } = probe.credentials
    const variants: [string, Record<string, string>][] = [
      ['with spaces around the client_secret', { client_secret: ` ${client_secret} ` }],
      ['with the client_id %', { client_id: '%' }],
      ['with the client_id *', { client_id: '*' }],
      ['with a quote after the client_id', { client_id: `${client_id}'` }],
    ]
    let last: Exchange | undefined
    for (const [description, changed] of variants) {
      last = await probe.requestToken({ ...probe.credentials, ...changed })
      expectStatus(last, 401, `A token request ${description}`)
    }
    const unusual = [
      ['300 more characters in the client_secret', client_secret + 'x'.repeat(300)],
      ['an accent in the client_secret', accented(client_secret)],
    ] as const
    for (const [description, changed] of unusual) {
      const exchange = await probe.requestToken({ ...probe.credentials, client_secret: changed })
      // It may also be refused for its form.
      expectRefused(exchange, `A token request with ${description}`)
    }
    return last as Exchange
  },
}

const unharmed: Rule = {
  id: 'token.unharmed',
  title: 'A token stays valid when a token request with wrong credentials is refused.',
  given: '§2.1',
  needs: ['token.both-live', 'token.secret'],
  async check({ probe }) {
    const useWrongSecret = () =>
      probe.requestToken({ ...probe.credentials, client_secret: `wrong-${UNKNOWN_ID}` })
    return expectStaysValid(
      probe,
      useWrongSecret,
      'A token is refused after a token request with a wrong secret.',
    )
  },
}

/** Wrong credentials (specification 7). They come last, as an implementation may lock out a client that guesses. */
export const CREDENTIAL_RULES: Rule[] = [client, nearClient, secret, unharmed, emptySecret, nearSecret, odd]
