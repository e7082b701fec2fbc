import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { formsOf } from '../../connect/index.ts'

/**
 * A secret of a recorded exchange. Its value cannot be read, logged or serialised: readers only get its kind, its length, and a
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

/** Parameters of OAuth whose values are no secret. All others are masked, so that an unknown parameter never leaks. */
const OAUTH_PARAMETERS = new Set(
  [
    'response_type response_mode client_id redirect_uri scope code_challenge code_challenge_method iss',
    'error error_description grant_type token_type expires_in audience resource prompt',
  ].flatMap((names) => names.split(' ')),
)
/** Headers whose values are no secret. */
const PUBLIC_HEADERS = new Set(
  'accept content-type retry-after www-authenticate location x-request-id'.split(' '),
)
/** Texts that the platform words freely, in which it may repeat a secret in any form. */
const FREE_TEXTS = new Set([
  'error_description',
  'www-authenticate',
  'business_name',
  'user_name',
  'token_type',
])
/** A run of characters that may be a token, a code, or a part of one. */
const TOKEN_LIKE = /[\w+/=~%-]{20,}/
const ERROR_CODE = /^[a-z_]{1,60}$/
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
/** Other names of the same secret. */
const KINDS = new Map([['authorization', 'access_token']])
const MAX_VALUE_LENGTH = 500
const MAX_NAME_LENGTH = 64
const MASKED = '(masked)'
/** How many parameters of one part are shown. */
const MAX_ENTRIES = 100
/** An exchange with more parameters in one part is masked as a whole: to look for each of them in the others takes seconds. */
const MAX_COMPARED = 1_000
/** A shorter secret could be part of a harmless word. */
const MIN_SECRET_LENGTH = 4

type Pairs = Iterable<readonly [name: string, value: unknown]>

/** Parts of one exchange by name, such as the query, the form and the headers, before they are masked. */
export interface RawExchange {
  [part: string]: Pairs
}

interface Entry {
  name: string
  text: string
  isPublic: boolean
  /** Whether other values are compared with it; a number or a truth value is not a secret. */
  isSecret: boolean
}

/**
 * Masks the parts of one exchange with a platform, apart from the `publicParameters` of OAuth and the platform. A public
 * value that contains a secret of the same exchange is masked as well, since a platform may repeat a code or token in an
 * error message.
 */
export function mask<R extends RawExchange>(
  { publicParameters }: { publicParameters: ReadonlySet<string> },
  exchange: R,
): { [Part in keyof R]: EventParameter[] } {
  const parts = Object.entries(exchange).map(
    ([part, pairs]) => [part, Array.from(pairs, (pair) => toEntry(pair, publicParameters))] as const,
  )
  const isTooLarge = parts.some(([, entries]) => entries.length > MAX_COMPARED)
  const secrets = (isTooLarge ? [] : parts)
    .flatMap(([, entries]) => entries)
    .filter(({ isSecret, text }) => isSecret && text.length >= MIN_SECRET_LENGTH)
    .flatMap(({ text }) => formsOf(text))
  const masked = parts.map(([part, entries]) => [
    part,
    entries.slice(0, MAX_ENTRIES).map((entry) => (isTooLarge ? hidden(entry) : toParameter(entry, secrets))),
  ])
  return Object.fromEntries(masked)
}

const hidden = ({ text }: Entry): EventParameter => ({ name: MASKED, value: new Secret(MASKED, text) })

function toParameter({ name, text, isPublic }: Entry, secrets: readonly string[]): EventParameter {
  const isHarmless = isPublic && isShowable(name, text) && !secrets.some((secret) => text.includes(secret))
  const isNameHarmless = name.length <= MAX_NAME_LENGTH && !secrets.some((secret) => name.includes(secret))
  const shownName = isNameHarmless ? name : MASKED
  return { name: shownName, value: isHarmless ? text : new Secret(KINDS.get(name) ?? shownName, text) }
}

/** Whether a public value has the form that is expected of it. */
function isShowable(name: string, text: string): boolean {
  if (text.length > MAX_VALUE_LENGTH) return false
  if (name === 'error') return ERROR_CODE.test(text)
  if (name === 'x-request-id') return UUID.test(text)
  return !FREE_TEXTS.has(name) || !TOKEN_LIKE.test(text)
}

function toEntry([name, value]: readonly [string, unknown], publicParameters: ReadonlySet<string>): Entry {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const raw = isPlain ? String(value) : stringify(value)
  const text = name === 'authorization' ? raw.replace(/^Bearer /, '') : raw
  const isPublic =
    isPlain && (OAUTH_PARAMETERS.has(name) || PUBLIC_HEADERS.has(name) || publicParameters.has(name))
  return { name, text, isPublic, isSecret: !isPublic && (typeof value === 'string' || !isPlain) }
}

/** An object or a list as one text; it may be nested too deeply for JSON. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** Splits a URL into its address and its query, without a fragment. */
export function splitUrl(url: string | URL): { address: string; query: [string, string][] } {
  const { origin, pathname, searchParams } = new URL(url)
  return { address: origin + pathname, query: [...searchParams] }
}
