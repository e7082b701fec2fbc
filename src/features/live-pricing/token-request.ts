import type { IncomingHttpHeaders } from 'node:http'
import { GRANT_TYPE } from './contract.ts'
import { TokenRequestError } from './errors.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface TokenRequest extends Credentials {
  /** Of HTTP Basic: the same without decoding, as many clients send it. */
  asSent?: Credentials
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const NAMES: readonly string[] = ['grant_type', 'client_id', 'client_secret']
const isName = (name: string) => NAMES.includes(name)

/**
 * Reads a client credentials request (RFC 6749 section 4.4.2): a form or JSON; the client's credentials in it or, in
 * their place, in HTTP Basic (section 2.3.1).
 * Throws `TokenRequestError` (400) for what is malformed, missing or repeated, and for another grant type.
 */
export function readTokenRequest(headers: IncomingHttpHeaders, body: Buffer): TokenRequest {
  const type = (headers['content-type'] ?? FORM).replace(/;.*/s, '').trim().toLowerCase()
  const isJson = type === JSON_TYPE
  if (!isJson && type !== FORM && body.length > 0)
    throw malformed(`the body must be a form (${FORM}) or JSON (${JSON_TYPE}), and its Content-Type say so`)
  const given = isJson ? fromJson(body) : fromForm(body)
  const seen = new Set<string>()
  const [repeated] = given.find(([name]) => seen.size === seen.add(name).size) ?? []
  if (repeated !== undefined)
    throw malformed(`${isName(repeated) ? repeated : 'a parameter'} is there more than once`)
  const empty = given.find(([name, value]) => isName(name) && value === '')
  if (empty) throw malformed(`${empty[0]} is empty`)
  const { grant_type, client_id, client_secret } = Object.fromEntries(given)
  const basic = fromBasic(headers.authorization)
  if (basic && (client_secret !== undefined || (client_id !== undefined && client_id !== basic.clientId)))
    throw malformed('the client authenticates in the header and in the body; one of them is enough')
  if (grant_type === undefined)
    throw malformed(
      !isJson && body.includes('{')
        ? `grant_type is missing; JSON needs Content-Type: ${JSON_TYPE}`
        : 'grant_type is missing',
    )
  if (grant_type !== GRANT_TYPE)
    throw new TokenRequestError(400, 'unsupported_grant_type', `The grant type must be ${GRANT_TYPE}.`)
  const clientId = basic?.clientId ?? client_id
  const clientSecret = basic?.clientSecret ?? client_secret
  if (clientId === undefined) throw malformed('client_id is missing')
  if (clientSecret === undefined) throw malformed('client_secret is missing')
  return { clientId, clientSecret, ...(basic?.asSent && { asSent: basic.asSent }) }
}

function malformed(what: string): TokenRequestError {
  return new TokenRequestError(400, 'invalid_request', `The request is malformed: ${what}.`)
}

function fromForm(body: Buffer): [string, string][] {
  const text = utf8(body)
  try {
    // URLSearchParams lets broken escapes and bytes pass.
    decodeURIComponent(text)
  } catch {
    throw malformed('the form is not encoded as it should be')
  }
  return [...new URLSearchParams(text)]
}

function fromJson(body: Buffer): [string, string][] {
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
    if (isName(name)) throw malformed(`${name} is not a string`)
    return [name, '']
  })
}

function fromBasic(header: string | undefined): TokenRequest | undefined {
  if (header === undefined) return undefined
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 1) throw malformed('the Authorization header is not HTTP Basic')
  const asSent = { clientId: pair.slice(0, colon), clientSecret: pair.slice(colon + 1) }
  try {
    // Each part is encoded like a form's (RFC 6749 section 2.3.1).
    const decode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
    return { clientId: decode(asSent.clientId), clientSecret: decode(asSent.clientSecret), asSent }
  } catch {
    return asSent
  }
}

function utf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw malformed('the body is not UTF-8')
  }
}
