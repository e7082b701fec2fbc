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

// The parameters are optional here, because missing parameters and other grant types have errors of their own.
const text = z.string().min(1).optional()
const parametersSchema = z.object({ grant_type: text, client_id: text, client_secret: text })

/**
 * Parses a client credentials request (specification 4.1), which is a form or JSON. Throws `LivePricingError` (400) for malformed,
 * missing or repeated parameters, and for other grant types.
 */
export function readTokenRequest(contentType = FORM, body: string | null): Credentials {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase()
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
  const hint = !isJson && body.includes('{') ? `; JSON needs Content-Type: ${JSON_TYPE}` : ''
  if (grant_type === undefined) throw malformed(`grant_type is missing${hint}`)
  if (grant_type !== GRANT_TYPE) throw new LivePricingError('unsupported_grant_type')
  if (client_id === undefined) throw malformed('client_id is missing')
  if (client_secret === undefined) throw malformed('client_secret is missing')
  return { clientId: client_id, clientSecret: client_secret }
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
