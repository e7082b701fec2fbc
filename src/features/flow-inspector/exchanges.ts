/** What the core and the routes report, with all secrets masked: only this is kept, stored and shown. */
import type { HopEvent } from '../../connect/express.ts'
import { type Exchange, type HttpResponse, type Platform, parseJson } from '../../connect/index.ts'
import { type EventParameter, mask, Secret, splitUrl } from './masking.ts'

export interface MaskedRequest {
  method: string
  /** Without its query, which is in `parameters`. */
  url: string
  headers: EventParameter[]
  parameters: EventParameter[]
}

export interface MaskedResponse {
  status: number
  headers: EventParameter[]
  parameters: EventParameter[]
  /** The length of a body that is not kept, in characters. */
  bodyLength?: number
}

export interface MaskedExchange {
  at: number
  ms: number
  request: MaskedRequest
  /** Undefined if there was no complete answer. */
  response: MaskedResponse | undefined
}

/** A hop that is recorded: the callback is recorded with its result, once. */
export type RecordedHop = HopEvent & { hop: Exclude<HopEvent['hop'], 'exchange'> }

/** A request of the browser (`in`), or where the app sends it (`out`). */
export interface MaskedHop {
  at: number
  ms: number
  hop: RecordedHop['hop']
  direction: 'in' | 'out'
  /** The status of the app's answer, and why the flow failed, if the next page says so. */
  status?: number
  failure?: string
  request: MaskedRequest
}

/** Whether an exchange asks for tokens. */
export const isTokenRequest = ({ purpose, request }: Exchange): boolean =>
  purpose === 'token' && new URLSearchParams(String(request.body)).has('grant_type')

/** The members of an error's body that say what is wrong. Other bodies of the API are the user's data. */
const ERROR_MEMBERS = ['error', 'error_description']
/** Headers of a response that say how to read it. */
const DESCRIBING_HEADERS = [
  'content-type',
  'retry-after',
  'www-authenticate',
  'x-request-id',
  'x-odata-total-count',
  'location',
]

/** Masks an exchange. Of a response of the API it keeps what is wrong, and of one of the token endpoint all members. */
export function maskExchange(platform: Platform, exchange: Exchange): MaskedExchange {
  const { at, ms, purpose, request, response } = exchange
  const { address, query } = splitUrl(request.url)
  const isToken = purpose === 'token'
  const { authorization = '', ...headers } = request.headers ?? {}
  const basic = /^Basic (.*)$/.exec(authorization)?.[1]
  const sent: Record<string, string> = basic === undefined ? (request.headers ?? {}) : headers
  const json = isToken || (response && response.status >= 400) ? parseJson(response?.text ?? '') : undefined
  const isObject = typeof json === 'object' && json !== null
  const members = isObject ? Object.entries(json) : []
  const masked = mask(platform, {
    parameters: [...query, ...(isToken ? new URLSearchParams(String(request.body)) : [])],
    // The response may repeat the secret that the header has.
    credentials: basic === undefined ? [] : [['client_secret', secretOf(basic)]],
    sent: Object.entries(sent),
    members: isToken ? members : members.filter(isErrorMember),
    received: headersOf(response),
  })
  const credentials =
    basic === undefined ? [] : [{ name: 'authorization', value: new Secret('client_secret', authorization) }]
  return {
    at,
    ms,
    request: {
      method: request.method,
      url: address,
      headers: [...masked.sent, ...credentials],
      parameters: masked.parameters,
    },
    response: response && {
      status: response.status,
      headers: masked.received,
      parameters: masked.members,
      ...(!(isToken && isObject) && { bodyLength: response.text.length }),
    },
  }
}

const isErrorMember = ([name, value]: [string, unknown]) =>
  ERROR_MEMBERS.includes(name) && typeof value === 'string'

function headersOf(response: HttpResponse | undefined): [name: string, value: string][] {
  return DESCRIBING_HEADERS.flatMap((name): [string, string][] => {
    const value = response?.header(name)
    if (value === undefined) return []
    // The query of a redirect may hold anything.
    return [[name, name === 'location' ? (value.split(/[?#]/)[0] ?? '') : value]]
  })
}

/** The client secret of HTTP Basic authentication, whose parts are form-encoded (RFC 6749 section 2.3.1). */
function secretOf(basic: string): string {
  const [, secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
  return new URLSearchParams(`secret=${secret}`).get('secret') ?? ''
}

/** The field of this app's own form, whatever the platform calls it. */
const OWN_FORM = { publicParameters: new Set(['bxcontext']) }

/** Masks a hop: the request of the browser, and where it goes next. `baseUrl`: the address of this app. */
export function maskHop(platform: Platform, baseUrl: string, event: RecordedHop): [MaskedHop, MaskedHop] {
  const { hop, req, arrivedAt, target, status, failure } = event
  const arrived = splitUrl(addressOf(req.originalUrl, baseUrl))
  const next = splitUrl(addressOf(target, baseUrl))
  const bxcontext = req.method === 'POST' ? req.body?.bxcontext : undefined
  const form: [string, unknown][] = bxcontext ? [['bxcontext', bxcontext]] : []
  const query = mask(platform, { query: arrived.query }).query
  const posted = mask(OWN_FORM, { form }).form
  const sent = mask(platform, { query: next.query }).query
  const method = req.method === 'POST' ? 'POST' : 'GET'
  return [
    {
      at: arrivedAt,
      ms: 0,
      hop,
      direction: 'in',
      request: { method, url: arrived.address, headers: [], parameters: [...query, ...posted] },
    },
    {
      at: Date.now(),
      ms: 0,
      hop,
      direction: 'out',
      status,
      ...(failure !== undefined && { failure }),
      request: { method: 'GET', url: next.address, headers: [], parameters: sent },
    },
  ]
}

/** The target of a request may be an address that cannot be read. */
const addressOf = (address: string, baseUrl: string) => URL.parse(address, baseUrl) ?? new URL(baseUrl)
