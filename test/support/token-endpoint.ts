import type { ServerResponse } from 'node:http'
import { serve } from './ports.ts'

/** A scripted answer: JSON or text with a status, or a function that writes the response. */
export type Scripted =
  | { status?: number; json?: unknown; text?: string; headers?: Record<string, string> }
  | ((res: ServerResponse) => void | Promise<void>)

export interface TokenEndpoint {
  /** The value of `PLATFORM_AUTH_URL`. */
  authUrl: string
  /** The form fields of every request so far. */
  requests: Record<string, string>[]
  /** Sets the answers to the next requests, in order; the last one is repeated. */
  answers(...answers: Scripted[]): void
  close(): Promise<void>
}

/** Starts a token endpoint over real HTTP whose answers a test scripts. */
export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const requests: Record<string, string>[] = []
  let script: Scripted[] = []
  const server = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    requests.push(Object.fromEntries(new URLSearchParams(body)))
    const answer = (script.length > 1 ? script.shift() : script[0]) ?? tokens()
    if (typeof answer === 'function') return answer(res)
    const { status = 200, json, text, headers } = answer
    res.writeHead(status, {
      'content-type': text === undefined ? 'application/json' : 'text/html',
      ...headers,
    })
    res.end(text ?? JSON.stringify(json))
  })
  return {
    authUrl: `http://127.0.0.1:${server.port}`,
    requests,
    answers: (...answers) => {
      script = answers
    },
    close: server.close,
  }
}

let issued = 0

/** A successful answer with a new access token. */
export function tokens(extra: Record<string, unknown> = {}): Scripted {
  return { json: { access_token: `access-${++issued}`, token_type: 'Bearer', expires_in: 300, ...extra } }
}

export const oauthError = (error: string, status = 400): Scripted => ({ status, json: { error } })

/** A successful answer after `before` has run. */
export const tokensAfter =
  (before: () => unknown, fields: Record<string, unknown>): Scripted =>
  async (res) => {
    await before()
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ access_token: `access-${++issued}`, expires_in: 300, ...fields }))
  }
