import { createHmac, hkdfSync } from 'node:crypto'
import { type EncryptionKey, formsOf, type Platform } from '../../connect/index.ts'
import type { Parameter } from './flow.ts'

/** Parameters of OAuth and of this app's form whose values are not secret. All others are masked, so that no secret leaks. */
const OAUTH_PARAMETERS = [
  'response_type response_mode client_id redirect_uri scope code_challenge code_challenge_method iss',
  'error error_description grant_type token_type expires_in audience resource prompt bxcontext',
].flatMap((names) => names.split(' '))
const PUBLIC_HEADERS = 'accept content-type retry-after www-authenticate location x-request-id'.split(' ')
/** Free text from the platform, which may repeat a secret in any form. */
const FREE_TEXTS = new Set('error_description www-authenticate business_name user_name token_type'.split(' '))
/** A run of characters that may be a token, a code, or a part of one. */
const TOKEN_LIKE = /[\w+/=~%-]{20,}/
const ERROR_CODE = /^[a-z_]{1,60}$/
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const MAX_VALUE_LENGTH = 500
const MAX_NAME_LENGTH = 64
const MASKED = '(masked)'
/** If a part of an exchange has more, the whole exchange is masked, because comparing all of its values would take seconds. */
const MAX_ENTRIES = 100
/** Shorter secrets could occur inside harmless words. */
const MIN_SECRET_LENGTH = 4

/** A parameter, header or member before masking. `kind`: the kind of secret, if the name does not tell. */
export type Raw = readonly [name: string, value: unknown, kind?: string]

export type Masking = ReturnType<typeof createMasking>

/** Parameters and headers of the platform whose values are not secret. */
export const platformParameters = ({ startPage, bxcontextParameter, paging }: Platform): string[] => [
  startPage.redirectUrl,
  bxcontextParameter,
  'business_name',
  'user_name',
  ...[paging.top, paging.skip, paging.orderBy, paging.filter, paging.count, paging.totalHeader],
]

/**
 * Masks recorded data, of which only the masked form is kept, stored and shown. All processes make the same fingerprints, because
 * they have the same encryption key.
 */
export function createMasking(platform: Platform, [encryptionKey]: readonly EncryptionKey[]) {
  if (!encryptionKey) throw new Error('The masking needs an encryption key')
  const key = Buffer.from(hkdfSync('sha256', encryptionKey.secret, '', 'flow inspector: fingerprints', 32))
  const publicNames = new Set([...OAUTH_PARAMETERS, ...PUBLIC_HEADERS, ...platformParameters(platform)])

  /**
   * The fingerprint of a secret: its kind, its length, and 6 hex digits of a keyed digest (`code:43:0a1b2c`). The same value has
   * the same fingerprint everywhere.
   */
  function fingerprint(kind: string, value: string): string {
    const digits = createHmac('sha256', key).update(value).digest('hex').slice(0, 6)
    return `${kind.replaceAll(':', '_') || '_'}:${value.length}:${digits}`
  }

  const hidden = ({ text }: Value): Parameter => ({ name: MASKED, fingerprint: fingerprint(MASKED, text) })

  /** The parameter, including its value only if that is public and does not repeat a secret of the exchange. */
  function shown({ name, text, kind, isPublic }: Value, secrets: readonly string[]): Parameter {
    const shownName = name.length > MAX_NAME_LENGTH || containsAny(name, secrets) ? MASKED : name
    return isPublic && isShowable(name, text) && !containsAny(text, secrets)
      ? { name: shownName, value: text }
      : { name: shownName, fingerprint: fingerprint(kind ?? shownName, text) }
  }

  /**
   * Masks the parts of one exchange, such as its query, headers and answer, by replacing each secret with its fingerprint. A public
   * value that contains a secret of the same exchange is masked too, because a platform may repeat a code or a token in an error
   * message.
   */
  function mask<Part extends string>(exchange: Record<Part, Iterable<Raw>>): Record<Part, Parameter[]> {
    const parts = Object.entries<Iterable<Raw>>(exchange).map(([part, raw]) => ({
      part,
      values: Array.from(raw, (one) => toValue(one, publicNames)),
    }))
    const isTooLarge = parts.some(({ values }) => values.length > MAX_ENTRIES)
    const secrets = isTooLarge ? [] : secretsIn(parts.flatMap(({ values }) => values))
    const toParameter = (value: Value) => (isTooLarge ? hidden(value) : shown(value, secrets))
    const masked = parts.map(({ part, values }) => [part, values.slice(0, MAX_ENTRIES).map(toParameter)])
    return Object.fromEntries(masked)
  }

  return { fingerprint, mask }
}

/** A parameter, header or member as text. */
interface Value {
  name: string
  text: string
  kind: string | undefined
  isPublic: boolean
  /** Whether other values must not contain it. A number or a Boolean is not a secret. */
  isSecret: boolean
}

function toValue([name, value, kind]: Raw, publicNames: ReadonlySet<string>): Value {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const isPublic = isPlain && publicNames.has(name)
  const isSecret = !isPublic && (typeof value === 'string' || !isPlain)
  return { name, text: isPlain ? String(value) : stringify(value), kind, isPublic, isSecret }
}

/** The secrets among these values, in every form in which a platform may repeat them. */
const secretsIn = (values: readonly Value[]): string[] =>
  values
    .filter(({ isSecret, text }) => isSecret && text.length >= MIN_SECRET_LENGTH)
    .flatMap(({ text }) => formsOf(text))

const containsAny = (text: string, secrets: readonly string[]) =>
  secrets.some((secret) => text.includes(secret))

/** Whether a public value has the expected form. */
function isShowable(name: string, text: string): boolean {
  if (text.length > MAX_VALUE_LENGTH) return false
  if (name === 'error') return ERROR_CODE.test(text)
  if (name === 'x-request-id') return UUID.test(text)
  return !FREE_TEXTS.has(name) || !TOKEN_LIKE.test(text)
}

/** An object or a list as JSON; empty if it is nested too deeply for JSON. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
