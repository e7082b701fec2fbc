import type { IncomingHttpHeaders } from 'node:http'
import { GRANT_TYPE } from '../../supplier-api/contract.ts'
import { LivePricingError } from './errors.ts'
import { textOf } from './request-body.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface TokenRequest extends Credentials {
  /** With HTTP Basic: the credentials without percent-decoding, since many clients don't encode them. */
  undecoded?: Credentials
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const PARAMETERS: readonly string[] = ['grant_type', 'client_id', 'client_secret']
const isParameter = (name: string) => PARAMETERS.includes(name)

/**
 * Parses a client credentials request (RFC 6749 section 4.4.2) as a form or JSON, with the client's credentials in the
 * body or in HTTP Basic (section 2.3.1).
 * Throws `LivePricingError` (400) for malformed, missing or repeated parameters, and for other grant types.
 */
export function readTokenRequest(headers: IncomingHttpHeaders, body: Buffer): TokenRequest {
  const type = (headers['content-type'] ?? FORM).replace(/;.*/s, '').trim().toLowerCase()
  const isJson = type === JSON_TYPE
  if (!isJson && type !== FORM && body.length > 0)
    throw malformed(`the Content-Type must be ${FORM} or ${JSON_TYPE}`)
  const entries = isJson ? parseJson(body) : parseForm(body)
  const seen = new Set<string>()
  const [repeated] = entries.find(([name]) => seen.size === seen.add(name).size) ?? []
  if (repeated !== undefined)
    throw malformed(`${isParameter(repeated) ? repeated : 'a parameter'} occurs more than once`)
  const empty = entries.find(([name, value]) => isParameter(name) && value === '')
  if (empty) throw malformed(`${empty[0]} is empty`)
  const { grant_type, client_id, client_secret } = Object.fromEntries(entries)
  const basic = parseBasic(headers.authorization)
  if (basic && (client_secret !== undefined || (client_id !== undefined && client_id !== basic.clientId)))
    throw malformed('send the credentials in either the header or the body, not both')
  if (grant_type === undefined)
    throw malformed(
      !isJson && body.includes('{')
        ? `grant_type is missing; JSON needs Content-Type: ${JSON_TYPE}`
        : 'grant_type is missing',
    )
  if (grant_type !== GRANT_TYPE) throw new LivePricingError('unsupported_grant_type')
  const clientId = basic?.clientId ?? client_id
  const clientSecret = basic?.clientSecret ?? client_secret
  if (clientId === undefined) throw malformed('client_id is missing')
  if (clientSecret === undefined) throw malformed('client_secret is missing')
  return { clientId, clientSecret, ...(basic?.undecoded && { undecoded: basic.undecoded }) }
}

const malformed = (problem: string) =>
  new LivePricingError('invalid_request', { detail: `The request is malformed: ${problem}.` })

function parseForm(body: Buffer): [string, string][] {
  const text = utf8(body)
  try {
    // URLSearchParams accepts invalid percent-encoding.
    decodeURIComponent(text)
  } catch {
    throw malformed('the form is not encoded correctly')
  }
  return [...new URLSearchParams(text)]
}

function parseJson(body: Buffer): [string, string][] {
  let value: unknown
  try {
    value = JSON.parse(utf8(body))
  } catch {
    throw malformed('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('the body is not a JSON object')
  return Object.entries(value).map(([name, content]): [string, string] => {
    if (typeof content === 'string') return [name, content]
    if (isParameter(name)) throw malformed(`${name} is not a string`)
    return [name, '']
  })
}

function parseBasic(header: string | undefined): TokenRequest | undefined {
  if (header === undefined) return undefined
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 1) throw malformed('the Authorization header is not HTTP Basic')
  const undecoded = { clientId: pair.slice(0, colon), clientSecret: pair.slice(colon + 1) }
  try {
    // Both parts are form-encoded (RFC 6749 section 2.3.1).
    const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
    return { clientId: decode(undecoded.clientId), clientSecret: decode(undecoded.clientSecret), undecoded }
  } catch {
    return undecoded
  }
}

function utf8(body: Buffer): string {
  const text = textOf(body)
  if (text === null) throw malformed('the body is not UTF-8')
  return text
}
