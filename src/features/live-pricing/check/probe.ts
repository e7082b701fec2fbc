import { GRANT_TYPE, PATHS } from '../contract.ts'

/** One call and what came of it, as a report may show it: without the secret and without a token. */
export interface Exchange {
  request: string
  /** 0 when there was no answer. */
  status: number
  headers: Headers
  text: string
  /** The body as JSON; undefined when it is none. */
  json: unknown
}

export interface Call {
  method?: string
  body?: string
  headers?: Record<string, string>
}

export interface Probe {
  /** Calls an address below the base. Never throws: no answer is an exchange with status 0. */
  call(path: string, call?: Call): Promise<Exchange>
  /** Asks for a token: a form with these fields. */
  ask(fields: Record<string, string>): Promise<Exchange>
  /** The same with the right credentials; asked once. */
  granted(): Promise<Exchange>
  /** Calls with the token; undefined without one. */
  withToken(path: string, body?: unknown): Promise<Exchange | undefined>
  credentials: { grant_type: string; client_id: string; client_secret: string }
  /** Every exchange so far. */
  exchanges: Exchange[]
}

export interface ProbeOptions {
  baseUrl: string
  clientId: string
  clientSecret: string
  /** How long an answer may take, in ms. */
  timeoutMs?: number
}

const MOST_BYTES = 5_000_000

export function createProbe({ baseUrl, clientId, clientSecret, timeoutMs = 15_000 }: ProbeOptions): Probe {
  const exchanges: Exchange[] = []
  const hidden = new Set<string>()
  /** Keeps a secret out of the report, however it is written: plain, in a form, in JSON, in an address. */
  const keepSecret = (secret: string) => {
    const inForm = new URLSearchParams({ secret }).toString().slice('secret='.length)
    for (const form of [secret, inForm, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      hidden.add(form)
  }
  keepSecret(clientSecret)
  const hide = (text: string) =>
    [...hidden]
      .reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
      .replaceAll(/("access_token"\s*:\s*)"(?:[^"\\]|\\.)*"/g, '$1"[hidden]"')
  const credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }

  async function call(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<Exchange> {
    const signal = AbortSignal.timeout(timeoutMs)
    const request = () => hide(`${method} ${path}${body ? `\n${body}` : ''}`)
    let exchange: Exchange
    try {
      const answer = await fetch(baseUrl + path, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body !== undefined && { body }),
      })
      const raw = await read(answer)
      const json = parse(raw)
      const token = (json as { access_token?: unknown } | null | undefined)?.access_token
      if (typeof token === 'string' && token.isWellFormed() && token !== '') keepSecret(token)
      exchange = { request: request(), status: answer.status, headers: answer.headers, text: hide(raw), json }
    } catch (error) {
      const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } }
      const text =
        name === 'TimeoutError'
          ? `no answer within ${timeoutMs / 1000} s`
          : `no answer (${cause?.code ?? cause?.message ?? name})`
      exchange = { request: request(), status: 0, headers: new Headers(), text, json: undefined }
    }
    exchanges.push(exchange)
    return exchange
  }

  const ask = (fields: Record<string, string>) =>
    call(PATHS.token, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    })
  let first: Promise<Exchange> | undefined
  const granted = () => {
    first ??= ask(credentials)
    return first
  }
  return {
    call,
    ask,
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

/** A body as text, as far as it is not endless. */
async function read(answer: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    parts.push(part)
    size += part.length
    if (size > MOST_BYTES) break
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
