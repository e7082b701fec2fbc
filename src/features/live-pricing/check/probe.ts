import { GRANT_TYPE, PATHS } from '../contract.ts'

/** A request and its response, with the secret and tokens redacted. */
export interface Exchange {
  request: string
  /** 0 if there was no response. */
  status: number
  headers: Headers
  text: string
  /** The parsed body; undefined if it is not JSON. */
  json: unknown
}

export interface Call {
  method?: string
  body?: string
  headers?: Record<string, string>
}

/** Calls the API under test and records every exchange. */
export interface Probe {
  /** Calls a path below the base URL. Never throws: without a response, the status of the exchange is 0. */
  call(path: string, call?: Call): Promise<Exchange>
  /** Sends a token request with these form fields. */
  requestToken(fields: Record<string, string>): Promise<Exchange>
  /** Requests a token with the valid credentials. Later calls return the first exchange. */
  granted(): Promise<Exchange>
  /** Calls a path with the token; resolves to undefined if there is no token. */
  withToken(path: string, body?: unknown): Promise<Exchange | undefined>
  credentials: { grant_type: string; client_id: string; client_secret: string }
  /** Every exchange so far. */
  exchanges: Exchange[]
}

export interface ProbeOptions {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Timeout of each call, in ms; 15,000 by default. */
  timeoutMs?: number
}

const MAX_BODY_BYTES = 5_000_000

/** Creates a probe for the API at `baseUrl`. */
export function createProbe({ baseUrl, clientId, clientSecret, timeoutMs = 15_000 }: ProbeOptions): Probe {
  const exchanges: Exchange[] = []
  const secrets = new Set<string>()
  /** Redacts a secret from all exchanges, whether plain, form-encoded, in JSON or percent-encoded. */
  const addSecret = (secret: string) => {
    const formEncoded = new URLSearchParams({ secret }).toString().slice('secret='.length)
    for (const form of [secret, formEncoded, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      secrets.add(form)
  }
  addSecret(clientSecret)
  const redact = (text: string) =>
    [...secrets]
      .reduce((redacted, secret) => redacted.replaceAll(secret, '[hidden]'), text)
      .replaceAll(/("access_token"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"[hidden]"')
  const credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }

  async function call(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<Exchange> {
    const signal = AbortSignal.timeout(timeoutMs)
    const request = () => redact(`${method} ${path}${body ? `\n${body}` : ''}`)
    let exchange: Exchange
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body !== undefined && { body }),
      })
      const raw = await read(response)
      const json = parse(raw)
      const token = (json as { access_token?: unknown } | null | undefined)?.access_token
      if (typeof token === 'string' && token.isWellFormed() && token !== '') addSecret(token)
      exchange = {
        request: request(),
        status: response.status,
        headers: response.headers,
        text: redact(raw),
        json,
      }
    } catch (error) {
      const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
      const text =
        name === 'TimeoutError'
          ? `no response within ${timeoutMs / 1000} s`
          : `no response (${cause?.code ?? cause?.message ?? name})`
      exchange = { request: request(), status: 0, headers: new Headers(), text, json: undefined }
    }
    exchanges.push(exchange)
    return exchange
  }

  const requestToken = (fields: Record<string, string>) =>
    call(PATHS.token, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    })
  let validToken: Promise<Exchange> | undefined
  const granted = () => {
    validToken ??= requestToken(credentials)
    return validToken
  }
  return {
    call,
    requestToken,
    granted,
    credentials,
    exchanges,
    async withToken(path, body) {
      const { json } = await granted()
      const token = (json as { access_token?: unknown } | null | undefined)?.access_token
      if (typeof token !== 'string' || token === '') return undefined
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
      if (body === undefined) return call(path, { headers })
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return call(path, {
        method: 'POST',
        body: text,
        headers: { ...headers, 'content-type': 'application/json' },
      })
    },
  }
}

/** Reads a body as text, up to `MAX_BODY_BYTES`. */
async function read(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    size += part.length
    if (size > MAX_BODY_BYTES) break
  }
  return Buffer.concat(parts).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
