/**
 * A platform whose authorization server is a real one: Glewlwyd, as Debian packages it. What Glewlwyd does not have, the
 * start page and an API with leads, a small server of ours adds.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'
import { endsWithFile } from '../support/children.ts'
import { CLIENT, tempDir } from '../support/env.ts'
import { freePort, serve } from '../support/ports.ts'
import { GLEWLWYD } from './programs.ts'

/** Where Debian's package puts its tables and its modules. */
const SCHEMA = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3'
const MODULES = '/usr/lib/glewlwyd'
/** The administrator that the schema creates. */
const ADMIN = { username: 'admin', password: 'password' }
const OLIVIA = { username: 'olivia', password: 'olivia-at-glewlwyd' }
const SCOPES = ['leads', 'catalogues']
/** The name of the plugin is part of its paths, so the token endpoint is where the platform has it: `/oauth/token`. */
const PLUGIN = 'oauth'
const AUTHORIZE_PATH = `/${PLUGIN}/auth`

export interface Glewlwyd {
  /** The settings of the app for this platform. */
  env: Record<string, string>
  /** The address that the consent page starts with. */
  authorizeUrl: string
  tokenUrl: string
  /** Olivia allows what the consent page at `url` asks for; resolves to the address that she is sent back to. */
  allow(url: string): Promise<string>
  /**
   * Olivia withdraws what she has allowed, as Glewlwyd's page about her account does. From then on it refuses the refresh
   * token by 400 without a body, with no `invalid_grant`: a test beside this file shows it by a request of its own.
   */
  revoke(): Promise<void>
  close(): Promise<void>
}

/** Starts both servers on free ports. Olivia has an account at Glewlwyd, and this app is registered there. */
export async function startGlewlwyd({ redirectUri }: { redirectUri: string }): Promise<Glewlwyd> {
  const { dir, remove } = tempDir()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const authUrl = `${url}/api`
  const child = spawn(GLEWLWYD ?? 'glewlwyd', ['--env-variables'], {
    // It is silent but for errors, which belong in the output of the test.
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      GLWD_PORT: String(port),
      GLWD_BIND_ADDRESS: '127.0.0.1',
      GLWD_EXTERNAL_URL: url,
      GLWD_LOG_MODE: 'console',
      GLWD_LOG_LEVEL: 'ERROR',
      GLWD_DATABASE_TYPE: 'sqlite3',
      GLWD_DATABASE_SQLITE3_PATH: createDatabase(dir),
      GLWD_USER_MODULE_PATH: `${MODULES}/user`,
      GLWD_CLIENT_MODULE_PATH: `${MODULES}/client`,
      GLWD_AUTH_SCHEME_MODULE_PATH: `${MODULES}/scheme`,
      GLWD_PLUGIN_MODULE_PATH: `${MODULES}/plugin`,
    },
  })
  endsWithFile(child)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await vi.waitFor(() => fetch(`${url}/config`), { timeout: 20_000 })
  await configure(await logIn(authUrl, ADMIN), authUrl, redirectUri)
  const olivia = await logIn(authUrl, OLIVIA)

  /** The refresh tokens that Olivia's consents have led to and that still work. */
  async function standingGrants(): Promise<string[]> {
    const tokens = JSON.parse((await olivia('GET', `/${PLUGIN}/token`)).text)
    return (tokens as { token_hash: string; enabled: boolean }[])
      .filter(({ enabled }) => enabled)
      .map(({ token_hash }) => token_hash)
  }

  /** Glewlwyd's access tokens outlive their refresh token, so this API asks for both, as a careful one would. */
  async function isAllowed(token: string): Promise<boolean> {
    const answer = await fetch(`${authUrl}/${PLUGIN}/introspect`, {
      method: 'POST',
      body: new URLSearchParams({
        token,
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
      }),
    })
    const { active } = (await answer.json()) as { active: boolean }
    return active && (await standingGrants()).length > 0
  }

  const shim = await serve(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', url)
    if (pathname === '/oauth2.html') return sendBack(res, searchParams)
    if (pathname !== '/api/leads') return res.writeHead(404).end()
    if (!(await isAllowed(bearerOf(req)))) return res.writeHead(401).end()
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([{ id: 'lead-1' }]))
  })
  const platform = `http://127.0.0.1:${shim.port}`

  return {
    env: {
      PLATFORM_APP_URL: platform,
      PLATFORM_AUTH_URL: authUrl,
      PLATFORM_API_URL: `${platform}/api`,
      PLATFORM_AUTHORIZE_PATH: AUTHORIZE_PATH,
    },
    authorizeUrl: authUrl + AUTHORIZE_PATH,
    tokenUrl: `${authUrl}/${PLUGIN}/token`,

    async allow(consent) {
      // Glewlwyd sends browsers to its login page, whose script does the rest by these requests.
      const page = new URL((await olivia('GET', consent)).location).searchParams
      await olivia('PUT', `/auth/grant/${page.get('client_id')}`, { scope: page.get('scope') })
      return (await olivia('GET', `${page.get('callback_url')}&g_continue`)).location
    },

    async revoke() {
      for (const hash of await standingGrants())
        await olivia('DELETE', `/${PLUGIN}/token/${encodeURIComponent(hash)}`)
    },

    async close() {
      child.kill()
      await Promise.all([ended, shim.close()])
      remove()
    },
  }
}

/** Creates Glewlwyd's tables in a new database, and resolves to its path. */
function createDatabase(dir: string): string {
  const path = join(dir, 'glewlwyd.db')
  const database = new DatabaseSync(path)
  database.exec(readFileSync(SCHEMA, 'utf8'))
  database.close()
  return path
}

type Session = Awaited<ReturnType<typeof logIn>>

/** Logs a user in to Glewlwyd, whose API takes JSON and knows its users by a cookie. */
async function logIn(api: string, user: { username: string; password: string }) {
  let cookie = ''
  /** `to` is a path of the API or a whole address. */
  async function send(method: string, to: string, body?: unknown) {
    const answer = await fetch(to.startsWith('/') ? api + to : to, {
      method,
      redirect: 'manual',
      headers: { cookie, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`Glewlwyd: ${method} ${to}: ${answer.status} ${text}`)
    const [setCookie] = answer.headers.getSetCookie()
    cookie = setCookie?.split(';')[0] ?? cookie
    return { text, location: answer.headers.get('location') ?? '' }
  }
  await send('POST', '/auth/', user)
  return send
}

async function configure(admin: Session, issuer: string, redirectUri: string): Promise<void> {
  await admin('POST', '/mod/plugin/', {
    module: 'oidc',
    name: PLUGIN,
    display_name: 'The platform',
    enabled: true,
    parameters: {
      iss: issuer,
      // The callback then names its issuer (RFC 9207), which the app checks.
      'oauth-as-iss-id': true,
      // Without it, every authorization request would need the scope `openid`.
      'allow-non-oidc': true,
      'jwt-type': 'sha',
      'jwt-key-size': '256',
      key: 'signs-access-tokens-in-tests-only',
      'access-token-duration': 3600,
      'refresh-token-duration': 86_400,
      'code-duration': 60,
      'auth-type-code-enabled': true,
      'auth-type-refresh-enabled': true,
      'auth-type-client-enabled': true,
      'auth-type-implicit-enabled': false,
      'auth-type-password-enabled': false,
      'pkce-allowed': true,
      'introspection-revocation-allowed': true,
      'introspection-revocation-allow-target-client': true,
    },
  })
  for (const name of SCOPES)
    await admin('POST', '/scope/', { name, display_name: name, password_required: true, password_max_age: 0 })
  await admin('POST', '/client/', {
    client_id: CLIENT.clientId,
    name: 'Test App',
    enabled: true,
    confidential: true,
    client_secret: CLIENT.clientSecret,
    token_endpoint_auth_method: ['client_secret_post'],
    redirect_uri: [redirectUri],
    // Only who may use the last one may introspect tokens.
    authorization_type: ['code', 'refresh_token', 'client_credentials'],
    scope: [],
  })
  await admin('POST', '/user/', { ...OLIVIA, name: 'Olivia', enabled: true, scope: ['g_profile', ...SCOPES] })
}

/** The start page: there is one business, so nobody is asked which. */
function sendBack(res: ServerResponse, parameters: URLSearchParams) {
  const back = new URL(parameters.get('redirectUrl') ?? '')
  back.searchParams.set('bxcontext', 'harbour-homes')
  res.writeHead(302, { location: back.href }).end()
}

const bearerOf = ({ headers }: IncomingMessage) => headers.authorization?.replace(/^Bearer /, '') ?? ''
