import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SCOPES } from './flow.ts'
import { serve } from './ports.ts'

/** A platform that differs from the sandbox: its paths have prefixes, its errors are pages, and it asks for a login first. */
export interface OtherPlatformOptions {
  /** The path of the token endpoint below `PLATFORM_AUTH_URL`, and whether the usual one redirects there. */
  tokenPath?: string
  tokenRedirect?: boolean
  pkce?: 'optional' | 'refused' | 'required'
  scopes?: string[]
  /** A parameter that the consent page requires, with the message when it is missing. */
  parameter?: { name: string; message: string }
  authMethod?: 'client_secret_post' | 'client_secret_basic'
  /** Whether the token endpoint looks at the code before it looks at the client. */
  codeFirst?: boolean
  /** The error of the token endpoint for a code that it did not issue; `invalid_grant` by default. */
  codeError?: string
  /** Whether the token endpoint reports errors in a form of its own. */
  ownErrors?: boolean
  /** Whether it asks for a login before it checks the client, the redirect URL and the scopes. */
  loginFirst?: boolean
  /** Whether the start page redirects back at once, without a login. */
  straightBack?: boolean
  /** Whether the web application answers every address with the same page. */
  singlePage?: boolean
  /** Whether every other address asks for a token, as a gateway may. */
  gateway?: boolean
  /** Added to the `Date` header, in ms. */
  clockMs?: number
  /** Whether every answer has a random id, as long as that of a trace or as short as a counter. */
  noise?: boolean
  /** Repeats the request's secret in errors of the token endpoint, in this encoding. */
  echo?: (secret: string) => string
  /** The JSON errors of the start page and the consent page, and their status. */
  refuses?: { start?: string; consent?: string; status: number; onlyWithPkce?: boolean }
  /** The status of every answer from one address, with a page. */
  outage?: { path: string; status: number }
}

export interface OtherPlatform {
  /** The settings with which an app connects to this platform. */
  env: Record<string, string>
  url: string
  close(): Promise<void>
}

export const OTHER_CLIENT = { id: 'builder-tools-17', secret: 'a secret/with+signs' }
export const BASE_URL = 'http://localhost:3100'

/** Starts it on a free port. Its three addresses are below `/portal/web`, `/idp/v2` and `/gateway/api/v1`. */
export async function startOtherPlatform(options: OtherPlatformOptions = {}): Promise<OtherPlatform> {
  const { server, port, close } = await serve()
  const url = `http://127.0.0.1:${port}`
  const [app, auth, api] = [`${url}/portal/web`, `${url}/idp/v2`, `${url}/gateway/api/v1`]
  const consentPath = '/connect/consent'
  const tokenUrl = auth + (options.tokenPath ?? '/oauth/token')
  server.on('request', async (req: IncomingMessage, res: ServerResponse) => {
    const address = new URL(req.url ?? '/', url)
    const place = url + address.pathname
    let body = ''
    for await (const chunk of req) body += chunk
    res.setHeader('date', new Date(Date.now() + (options.clockMs ?? 0)).toUTCString())
    const page = (status: number, text: string) =>
      res.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>${text}</h1>${noise()}`)
    const redirect = (to: string) => res.writeHead(302, { location: to }).end()
    if (options.outage && place.startsWith(url + options.outage.path))
      return page(options.outage.status, 'Later')
    if (place === `${app}/oauth2.html`) {
      const redirectUrl = address.searchParams.get('redirectUrl')
      if (options.refuses?.start) return json(res, options.refuses.status, { error: options.refuses.start })
      if (options.straightBack && redirectUrl) return redirect(`${redirectUrl}?bxcontext=b`)
      if (options.singlePage) return page(200, 'Loading')
      if (redirectUrl !== `${BASE_URL}/connect/context` && !options.loginFirst)
        return page(403, `The address ${redirectUrl} is not on our list`)
      return redirect(`${app}/login?next=${encodeURIComponent(address.search)}`)
    }
    if (place === `${app}/login` || place === `${auth}/login`) return page(200, 'Who are you?')
    if (options.singlePage && place.startsWith(app)) return page(200, 'Loading')
    const isRefused = !options.refuses?.onlyWithPkce || address.searchParams.has('code_challenge')
    if (options.refuses?.consent && isRefused && place.startsWith(auth) && req.method === 'GET')
      return json(res, options.refuses.status, {
        error: 'invalid_request',
        error_description: options.refuses.consent,
      })
    if (place === auth + consentPath) return consent(address.searchParams, { page, redirect })
    if (place === tokenUrl && req.method === 'POST') return token(req, body, res)
    if (options.tokenRedirect && place === `${auth}/oauth/token`) return redirect(tokenUrl)
    if (place === `${auth}/oauth/revoke` && req.method === 'POST') return json(res, 200, {})
    if (address.pathname === '/revoke/empty-page')
      return res.writeHead(200, { 'content-type': 'text/html' }).end()
    if (address.pathname === '/revoke/client') return json(res, 400, { error: 'invalid_client' })
    if (address.pathname === '/revoke/type') return json(res, 400, { error: 'unsupported_token_type' })
    if (address.pathname === '/revoke/down') return json(res, 503, {})
    if (place.startsWith(`${api}/`) || (options.gateway && !place.startsWith(auth) && !place.startsWith(app)))
      return res.writeHead(401, { 'www-authenticate': 'Bearer realm="gateway"' }).end()
    return page(404, 'Nothing here')
  })

  interface Reply {
    page(status: number, text: string): unknown
    redirect(to: string): unknown
  }

  function consent(params: URLSearchParams, { page, redirect }: Reply) {
    const redirectUri = params.get('redirect_uri') ?? ''
    if (options.loginFirst) return redirect(`${auth}/login`)
    if (params.get('client_id') !== OTHER_CLIENT.id) return page(400, 'Unknown application')
    if (redirectUri !== `${BASE_URL}/connect/callback`) return page(400, 'This return address is not allowed')
    const refuse = (error: string, text: string) =>
      redirect(`${redirectUri}?${new URLSearchParams({ error, error_description: text })}`)
    const hasChallenge = params.has('code_challenge')
    if (options.pkce === 'refused' && hasChallenge) return page(400, 'Unexpected parameters')
    if (options.pkce === 'required' && !hasChallenge)
      return refuse('invalid_request', 'code challenge required')
    const { parameter, scopes = SCOPES } = options
    if (parameter && !params.has(parameter.name)) return refuse('invalid_request', parameter.message)
    const unknown = (params.get('scope') ?? '').split(' ').find((scope) => scope && !scopes.includes(scope))
    if (unknown) return refuse('invalid_scope', `no such scope: ${unknown}`)
    return redirect(`${auth}/login`)
  }

  function token(req: IncomingMessage, body: string, res: ServerResponse) {
    const fields = new URLSearchParams(body)
    const codeError = options.codeError ?? 'invalid_grant'
    if (options.codeFirst) return error(res, 400, codeError)
    const [id, secret] = credentials(req, fields)
    if (id !== OTHER_CLIENT.id || secret !== OTHER_CLIENT.secret)
      return error(res, 401, 'invalid_client', secret ?? '')
    return error(res, 400, codeError)
  }

  const noise = () =>
    options.noise ? `<i id="${randomBytes(4).toString('hex')}">${randomBytes(16).toString('base64')}</i>` : ''

  function error(res: ServerResponse, status: number, code: string, secret = '') {
    const trace = options.noise ? { trace: randomBytes(8).toString('hex') } : {}
    const echo = options.echo ? { error_description: `wrong: ${options.echo(secret)}` } : {}
    json(
      res,
      status,
      options.ownErrors ? { message: `E17 ${code.length}`, ...echo } : { error: code, ...echo, ...trace },
    )
  }

  function credentials({ headers }: IncomingMessage, fields: URLSearchParams) {
    if (options.authMethod !== 'client_secret_basic')
      return [fields.get('client_id'), fields.get('client_secret')]
    const [, encoded = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? []
    return Buffer.from(encoded, 'base64')
      .toString()
      .split(':')
      .map((part) => new URLSearchParams(`v=${part}`).get('v'))
  }

  return {
    url,
    close,
    env: {
      BASE_URL,
      PLATFORM_APP_URL: app,
      PLATFORM_AUTH_URL: auth,
      PLATFORM_API_URL: api,
      PLATFORM_CLIENT_ID: OTHER_CLIENT.id,
      PLATFORM_CLIENT_SECRET: OTHER_CLIENT.secret,
      PLATFORM_AUTHORIZE_PATH: consentPath,
      PLATFORM_PKCE: String(options.pkce !== 'refused'),
    },
  }
}

function json(res: ServerResponse, status: number, body: unknown) {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
