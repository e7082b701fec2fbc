import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { GRANT_TYPE } from '../api/contract.ts'
import { LivePricingError } from './errors.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

// Texts are optional here, because missing parameters and other grant types have errors of their own.
const text = z.string().min(1).optional()
const parametersSchema = z.object({ grant_type: text, client_id: text, client_secret: text })

/**
 * Parses a client credentials request (RFC 6749 section 4.4.2) as a form or JSON, with the client's credentials in the
 * body or in HTTP Basic (section 2.3.1). Returns the credentials. With HTTP Basic, it also returns them without percent-decoding,
 * because many clients don't encode them.
 * Throws `LivePricingError` (400) for malformed, missing or repeated parameters, and for other grant types.
 */
export function readTokenRequest(headers: IncomingHttpHeaders, body: string | null): Credentials[] {
  const type = (headers['content-type'] ?? FORM).replace(/;.*/s, '').trim().toLowerCase()
  const isJson = type === JSON_TYPE
  if (!isJson && type !== FORM && body !== '')
    throw malformed(`the Content-Type must be ${FORM} or ${JSON_TYPE}`)
  if (body === null) throw malformed('the body is not UTF-8')
  const given = isJson ? parseJson(body) : parseForm(body)
  if (given === undefined) throw malformed('the body is not JSON')
  const parsed = parametersSchema.safeParse(given)
  if (!parsed.success)
    throw malformed(`${parsed.error.issues[0]?.path.join() || 'the body'} is empty or of another type`)
  const { grant_type, client_id, client_secret } = parsed.data
  const basic = headers.authorization === undefined ? [] : parseBasic(headers.authorization)
  const [first] = basic
  if (first && (client_secret !== undefined || (client_id !== undefined && client_id !== first.clientId)))
    throw malformed('send the credentials in either the header or the body, not both')
  const hint = !isJson && body.includes('{') ? `; JSON needs Content-Type: ${JSON_TYPE}` : ''
  if (grant_type === undefined) throw malformed(`grant_type is missing${hint}`)
  if (grant_type !== GRANT_TYPE) throw new LivePricingError('unsupported_grant_type')
  if (first) return basic
  if (client_id === undefined) throw malformed('client_id is missing')
  if (client_secret === undefined) throw malformed('client_secret is missing')
  return [{ clientId: client_id, clientSecret: client_secret }]
}

const malformed = (problem: string) =>
  new LivePricingError('invalid_request', { detail: `The request is malformed: ${problem}.` })

function parseForm(content: string): Record<string, string> {
  try {
    // URLSearchParams accepts invalid percent-encoding.
    decodeURIComponent(content)
  } catch {
    throw malformed('the form is not encoded correctly')
  }
  const entries = [...new URLSearchParams(content)]
  const parameters = Object.fromEntries(entries)
  if (Object.keys(parameters).length < entries.length) throw malformed('a parameter occurs more than once')
  return parameters
}

function parseBasic(header: string): Credentials[] {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 1) throw malformed('the Authorization header is not HTTP Basic')
  const undecoded = { clientId: pair.slice(0, colon), clientSecret: pair.slice(colon + 1) }
  try {
    // Both parts are form-encoded (RFC 6749 section 2.3.1).
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
    return [{ clientId: decode(undecoded.clientId), clientSecret: decode(undecoded.clientSecret) }, undecoded]
  } catch {
    return [undecoded]
  }
}
