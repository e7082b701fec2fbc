import { parseJson } from '../platform/json.ts'

/** One member of a token's header or claims. Without a `value`, it may be personal data, or is not of the usual type. */
export interface TokenField {
  name: string
  value?: string | number
}

/** What may be shown of an access token that is a JWT. */
export interface TokenClaims {
  /** With the values of `alg`, `typ` and `kid` (RFC 7515 section 4.1). */
  header: TokenField[]
  /** With the values of registered claims that are public; times are NumericDates, in seconds since 1970. */
  claims: TokenField[]
}

const HEADER_TEXTS = new Set(['alg', 'typ', 'kid'])
/** RFC 7519 section 4.1 and RFC 9068 section 2.2; `azp` and `scp` are common at identity providers. `sub` is a person. */
const CLAIM_TEXTS = new Set(['iss', 'aud', 'client_id', 'azp', 'scope', 'scp'])
const CLAIM_TIMES = new Set(['exp', 'iat', 'nbf'])
const MAX_FIELDS = 50
const MAX_LENGTH = 200

/**
 * The header and claims of an access token that is a signed JWT (RFC 7519, RFC 9068), at most 50 each, with texts of at
 * most 200 characters; null for any other token. Nothing is verified: this is for display, not for decisions.
 */
export function readTokenClaims(accessToken: string): TokenClaims | null {
  const match = /^([\w-]+)\.([\w-]+)\.[\w-]*$/.exec(accessToken)
  const header = parsePart(match?.[1])
  const payload = parsePart(match?.[2])
  if (!header || !payload || typeof header.alg !== 'string') return null
  return {
    header: fieldsOf(header, HEADER_TEXTS),
    claims: fieldsOf(payload, CLAIM_TEXTS, CLAIM_TIMES),
  }
}

function parsePart(part: string | undefined): Record<string, unknown> | null {
  const value = part === undefined ? undefined : parseJson(Buffer.from(part, 'base64url').toString())
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : null
}

function fieldsOf(members: object, texts: Set<string>, times = new Set<string>()): TokenField[] {
  return Object.entries(members)
    .slice(0, MAX_FIELDS)
    .map(([name, member]) => {
      const field = { name: name.slice(0, MAX_LENGTH) }
      if (times.has(name) && typeof member === 'number') return { ...field, value: member }
      const text = texts.has(name) ? textOf(member) : undefined
      return text === undefined ? field : { ...field, value: text.slice(0, MAX_LENGTH) }
    })
}

/** A text, or a list of texts such as several audiences, separated by spaces. */
function textOf(member: unknown): string | undefined {
  const texts = [member].flat()
  return texts.every((text) => typeof text === 'string') ? texts.join(' ') : undefined
}
