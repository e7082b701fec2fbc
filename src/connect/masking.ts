import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'

/**
 * A secret in an event. Its value cannot be read, logged or serialised: subscribers only get its kind, its length, and a
 * keyed digest, by which they can recognise the same value.
 */
export class Secret {
  /** What it is: `access_token`, `code`, `state` … */
  readonly kind: string
  readonly length: number
  readonly #value: string

  constructor(kind: string, value: string) {
    this.kind = kind
    this.length = value.length
    this.#value = value
  }

  /** HMAC-SHA256 of the value, as hex digits. */
  digest(key: string): string {
    return createHmac('sha256', key).update(this.#value).digest('hex')
  }

  toString(): string {
    return `[${this.kind}, ${this.length} characters]`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}

/** A parameter or header of a request or response. */
export interface EventParameter {
  readonly name: string
  readonly value: string | Secret
}

/** Parameters whose values are no secret. All others are masked, so that an unknown parameter never leaks. */
const PUBLIC_PARAMETERS = new Set(
  [
    'response_type response_mode client_id redirect_uri redirectUrl scope bxcontext code_challenge',
    'code_challenge_method iss error error_description error_uri grant_type token_type expires_in',
    'audience resource prompt business_name user_name $top $skip $orderby $count',
  ].flatMap((names) => names.split(' ')),
)
/** Headers whose values are no secret. */
const PUBLIC_HEADERS = new Set(
  'accept content-type retry-after www-authenticate x-odata-total-count location'.split(' '),
)
/** Other names of the same secret. */
const KINDS: Record<string, string> = { authorization: 'access_token' }
const MAX_VALUE_LENGTH = 500
/** A shorter secret could be part of a harmless word. */
const MIN_SECRET_LENGTH = 6

type Pairs = Iterable<readonly [name: string, value: unknown]>

/** Parts of one exchange by name, such as the query, the form and the headers, before they are masked. */
export interface RawExchange {
  [part: string]: Pairs
}

/**
 * Masks the parts of one exchange. A public value that contains a secret of the same exchange is masked as well, since a
 * platform may repeat a code or token in an error message.
 */
export function mask<R extends RawExchange>(exchange: R): { [Part in keyof R]: EventParameter[] } {
  const parts = Object.entries(exchange).map(([part, pairs]) => [part, [...pairs].map(toEntry)] as const)
  const secrets = parts
    .flatMap(([, entries]) => entries)
    .filter(({ isPublic, text }) => !isPublic && text.length >= MIN_SECRET_LENGTH)
    .map(({ text }) => text)
  const masked = parts.map(([part, entries]) => [
    part,
    entries.map(({ name, text, isPublic }) => ({
      name,
      value:
        isPublic && !secrets.some((secret) => text.includes(secret))
          ? text.slice(0, MAX_VALUE_LENGTH)
          : new Secret(KINDS[name] ?? name, text),
    })),
  ])
  return Object.fromEntries(masked)
}

function toEntry([name, value]: readonly [string, unknown]) {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const raw = isPlain ? String(value) : (JSON.stringify(value) ?? '')
  const text = name === 'authorization' ? raw.replace(/^Bearer /, '') : raw
  return { name, text, isPublic: isPlain && (PUBLIC_PARAMETERS.has(name) || PUBLIC_HEADERS.has(name)) }
}

/** Splits a URL into its address and its query, without a fragment. */
export function splitUrl(url: string | URL): { address: string; query: [string, string][] } {
  const { origin, pathname, searchParams } = new URL(url)
  return { address: origin + pathname, query: [...searchParams] }
}
