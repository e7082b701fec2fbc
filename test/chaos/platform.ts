/** A platform for `npm run chaos`: two kinds of grants, and faults that are set while it runs. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { serve } from '../support/ports.ts'

/** Every secret that the platform issues starts with this, so that it is found wherever it should not be. */
export const MARK = 'mk-'
const ACCESS_SECONDS = 35

export interface Faults {
  /** Faults of the token endpoint. Each occurs before the platform changes anything. */
  token: 'none' | '500' | '429' | 'garbage' | 'slow'
  /** A fault of the token endpoint, only for grants with a constant refresh token: the answer is lost. */
  drop: boolean
  api: 'none' | '500' | '401' | 'hang'
  /** Token requests wait: nothing is issued, and no refresh token rotates. */
  holdTokens: boolean
}

interface Grant {
  rotating: boolean
  refreshToken: string
  /** Access tokens and when they expire. */
  access: Map<string, number>
  /** The times of successful refreshes. */
  refreshedAt: number[]
}

export async function startPlatform(clientSecret: string) {
  const faults: Faults = { token: 'none', drop: false, api: 'none', holdTokens: false }
  const grants: Grant[] = []
  const codes = new Map<string, Grant>()
  let tokenRequests = 0

  const secret = () => MARK + randomBytes(24).toString('hex')
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  function send(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

  function issue(grant: Grant, rotate: boolean) {
    const token = secret()
    grant.access.set(token, Date.now() + ACCESS_SECONDS * 1000)
    if (rotate) grant.refreshToken = secret()
    return { access_token: token, refresh_token: grant.refreshToken, expires_in: ACCESS_SECONDS }
  }

  async function token(form: URLSearchParams, res: ServerResponse): Promise<void> {
    tokenRequests++
    const sentAt = Date.now()
    while (faults.holdTokens) await sleep(20)
    const { token: fault } = faults
    if (fault === 'slow') await sleep(2_000 + Math.random() * 10_000)
    // The client has closed the connection, so no tokens are issued.
    if (res.destroyed) return
    if (fault === '500') return send(res, 500, { error: 'server_error' })
    if (fault === '429') return send(res, 429, {}, { 'retry-after': '2' })
    if (fault === 'garbage') return void res.end('<h1>Maintenance</h1>')
    if (form.get('client_secret') !== clientSecret) return send(res, 401, { error: 'invalid_client' })
    const code = codes.get(form.get('code') ?? '')
    if (form.get('grant_type') === 'authorization_code') {
      if (!code) return send(res, 400, { error: 'invalid_grant' })
      codes.delete(form.get('code') ?? '')
      return send(res, 200, issue(code, false))
    }
    const grant = grants.find(({ refreshToken }) => refreshToken === form.get('refresh_token'))
    if (!grant) return send(res, 400, { error: 'invalid_grant' })
    const answer = issue(grant, grant.rotating)
    if (faults.drop && !grant.rotating) return void res.destroy()
    grant.refreshedAt.push(sentAt)
    send(res, 200, answer)
  }

  async function api(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (faults.api === 'hang') await sleep(10_000)
    if (res.destroyed) return
    if (faults.api === '500') return send(res, 500, {})
    const bearer = (req.headers.authorization ?? '').replace('Bearer ', '')
    const known = grants.some(({ access }) => (access.get(bearer) ?? 0) > Date.now())
    if (!known || (faults.api === '401' && Math.random() < 0.3))
      return send(res, 401, { error: 'invalid_token' })
    send(res, 200, [{ id: '1' }], { 'x-odata-total-count': '1' })
  }

  const server = await serve(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    if (req.url === '/oauth/token') await token(new URLSearchParams(body), res)
    else await api(req, res)
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    faults,
    grants,
    tokenRequests: () => tokenRequests,
    /** A code as the consent page would send it back. */
    consent(rotating: boolean): string {
      const grant: Grant = { rotating, refreshToken: secret(), access: new Map(), refreshedAt: [] }
      grants.push(grant)
      const code = secret()
      codes.set(code, grant)
      return code
    },
    close: server.close,
  }
}
