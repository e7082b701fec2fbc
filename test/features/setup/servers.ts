/** Authorization servers that answer like real products. Each also has a platform's start page and API. */
import express, { type Express, type Response } from 'express'
import { CLIENT } from '../../support/env.ts'
import { SCOPES } from '../../support/flow.ts'
import { serve } from '../../support/ports.ts'

export const BASE_URL = 'http://localhost:3100'

export interface Server {
  /** The settings that fit. */
  env: Record<string, string>
  introspectionUrl: string
  close(): Promise<void>
}

/** Starts a server with the routes that `mount` adds below the path `at`. `mount` also gets the server's address. */
async function start(at: string, mount: (app: Express, url: string) => void): Promise<Server> {
  const { server, port, close } = await serve()
  const url = `http://127.0.0.1:${port}`
  const app = express().use(express.urlencoded())
  app.get('/app/oauth2.html', (req, res) =>
    req.query.redirectUrl === `${BASE_URL}/connect/context`
      ? res.redirect('/app/login')
      : res.status(403).send('<h1>This address is not on our list</h1>'),
  )
  app.get('/app/login', (_req, res) => res.send('<h1>Log in</h1>'))
  app.use('/api', (_req, res) => res.status(401).json({ message: 'no token' }))
  mount(app, url)
  server.on('request', app)
  const env = {
    BASE_URL,
    PLATFORM_APP_URL: `${url}/app`,
    PLATFORM_AUTH_URL: url,
    PLATFORM_API_URL: `${url}/api`,
    PLATFORM_AUTHORIZE_PATH: `${at}/authorize`,
    PLATFORM_REVOCATION_URL: `${url}${at}/revoke`,
  }
  return { env, introspectionUrl: `${url}${at}/introspect`, close }
}

const isClient = ({ body }: { body: Record<string, string> }) =>
  body.client_id === CLIENT.clientId && body.client_secret === CLIENT.clientSecret

const DOORKEEPER = {
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_redirect_uri: "The requested redirect uri is malformed or doesn't match client redirect URI.",
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
}

/**
 * Doorkeeper up to 5.6, for a browser that is logged in: `PreAuthorization` validates the client, the redirect uri and the
 * scopes in this order, and `render_error` shows a page with 200, which names no error. It has no metadata.
 */
export function startDoorkeeper(at: string): Promise<Server> {
  const send = (res: Response, status: number, error: keyof typeof DOORKEEPER) =>
    res.status(status).json({ error, error_description: DOORKEEPER[error] })
  return start(at, (app) => {
    app.get(`${at}/authorize`, ({ query }, res) => {
      const token = `<meta name="csrf-token" content="${crypto.randomUUID()}">`
      const error = (name: keyof typeof DOORKEEPER) =>
        res.send(
          `${token}<h1>An error has occurred</h1><main role="main"><pre>${DOORKEEPER[name]}</pre></main>`,
        )
      if (query.client_id !== CLIENT.clientId) return error('invalid_client')
      if (query.redirect_uri !== `${BASE_URL}/connect/callback`) return error('invalid_redirect_uri')
      const scopes = String(query.scope).split(' ')
      if (!scopes.every((scope) => SCOPES.includes(scope))) return error('invalid_scope')
      const list = scopes.map((scope) => `<li>${scope}</li>`)
      return res.send(
        `${token}<main role="main"><p>Authorize Builder Tools to use your account?</p>${list}</main>`,
      )
    })
    app.post(`${at}/token`, (req, res) =>
      isClient(req) ? send(res, 400, 'invalid_grant') : send(res, 401, 'invalid_client'),
    )
    app.post(`${at}/introspect`, (req, res) =>
      isClient(req) ? res.json({ active: false }) : send(res, 401, 'invalid_client'),
    )
    app.post(`${at}/revoke`, (req, res) =>
      isClient(req) ? res.json({}) : res.status(403).json({ error: 'unauthorized_client' }),
    )
    app.use((_req, res) => res.status(404).send("<h1>The page you were looking for doesn't exist.</h1>"))
  })
}

/**
 * LemonLDAP::NG: every path shows the login page, or answers a program with 401 and `{"error":9}`, whose fields come in any
 * order (Perl's hashes). A login comes before the consent url is read. `invalid_client` is 400 without HTTP Basic.
 */
export function startLemonLdap(at: string, { hasMetadata = true } = {}): Promise<Server> {
  let answers = 0
  return start(at, (app, url) => {
    const metadata = {
      issuer: `${url}/`,
      authorization_endpoint: `${url}${at}/authorize`,
      token_endpoint: `${url}${at}/token`,
      introspection_endpoint: `${url}${at}/introspect`,
      revocation_endpoint: `${url}${at}/revoke`,
    }
    if (hasMetadata) app.get('/.well-known/openid-configuration', (_req, res) => res.json(metadata))
    app.post([`${at}/token`, `${at}/introspect`, `${at}/revoke`], (req, res) => {
      if (!isClient(req))
        return res.status(req.headers.authorization ? 401 : 400).json({ error: 'invalid_client' })
      if (req.path === `${at}/token`) return res.status(400).json({ error: 'invalid_grant' })
      return res.json(req.path === `${at}/revoke` ? {} : { active: false })
    })
    app.get(/.*/, (_req, res) =>
      res.send(`<main>Authentication required<input type="hidden" name="token" value="${++answers}"></main>`),
    )
    app.use((_req, res) =>
      res.status(401).json(++answers % 3 ? { result: 0, error: 9 } : { error: 9, result: 0 }),
    )
  })
}
