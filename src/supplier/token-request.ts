import type { IncomingHttpHeaders } from 'node:http'
import { GRANT_TYPE } from './contract.ts'
import { TokenRefused } from './errors.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface TokenRequest extends Credentials {
  /** Of HTTP Basic: the same without decoding, as many clients send it. */
  asSent?: Credentials
}

const NAMES = ['grant_type', 'client_id', 'client_secret'] as const

/**
 * Reads a client credentials request (RFC 6749 section 4.4.2): a form or JSON; the client's credentials in it or, in
 * their place, in HTTP Basic (section 2.3.1).
 * Throws `TokenRefused` (400) for what is malformed, missing or repeated, and for another grant type.
 */
export function readTokenRequest(headers: IncomingHttpHeaders, body: Buffer): TokenRequest {
  const type = headers['content-type']?.toLowerCase() ?? ''
  const given = type.startsWith('application/json') ? fromJson(body) : fromForm(body)
  for (const name of NAMES) {
    const values = given.filter(([known]) => known === name)
    if (values.length > 1) throw malformed(`${name} is there more than once`)
    if (values[0] && values[0][1] === '') throw malformed(`${name} is empty`)
  }
  const { grant_type, client_id, client_secret } = Object.fromEntries(given)
  const basic = fromBasic(headers.authorization)
  if (basic && (client_secret !== undefined || (client_id !== undefined && client_id !== basic.clientId)))
    throw malformed('the client authenticates in the header and in the body; one of them is enough')
  if (grant_type === undefined) throw malformed('grant_type is missing')
  if (grant_type !== GRANT_TYPE)
    throw new TokenRefused(400, 'unsupported_grant_type', `The grant type must be ${GRANT_TYPE}.`)
  const clientId = basic?.clientId ?? client_id
  const clientSecret = basic?.clientSecret ?? client_secret
  if (clientId === undefined) throw malformed('client_id is missing')
  if (clientSecret === undefined) throw malformed('client_secret is missing')
  return { clientId, clientSecret, ...(basic?.asSent && { asSent: basic.asSent }) }
}

function malformed(what: string): TokenRefused {
  return new TokenRefused(400, 'invalid_request', `The request is malformed: ${what}.`)
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
  const text = utf8(body)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('the body is not a JSON object')
  // JSON.parse keeps the last of repeated names, so they are counted in the text: names come before a colon.
  const names = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)].flatMap(([, name = '', colon]) =>
    colon ? String(JSON.parse(name)) : [],
  )
  return NAMES.flatMap((name) => {
    const content: unknown = (value as Record<string, unknown>)[name]
    if (content === undefined) return []
    if (typeof content !== 'string') throw malformed(`${name} is not a string`)
    return names.filter((known) => known === name).map((): [string, string] => [name, content])
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
