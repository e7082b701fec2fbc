/**
 * node-oidc-provider, an independent implementation, with its pages for development. Tests use it as the app's sign-in service and
 * as the platform's authorization server. Anyone can log in under any name.
 */
import express from 'express'
import Provider, { type ClientAuthMethod } from 'oidc-provider'
import { vi } from 'vitest'
import { platform } from '../../src/connect/index.ts'
import { CLIENT } from './env.ts'
import { envOf, OIDC_CLIENT } from './openid-provider.ts'
import { serve } from './ports.ts'
import type { Answer, Visitor } from './visitor.ts'

/** How long an access token lives by default, in seconds. */
export const ACCESS_TOKEN_SECONDS = 3600
/** The business that every user of the platform has. */
export const BXCONTEXT = 'harbour-homes'

/** A request to the token endpoint and its answer, including tokens, which are worthless outside the test. */
interface TokenRequest {
  grantType: string
  /** Where the request contained the client secret. */
  method: ClientAuthMethod
  status: number
  answer: Record<string, unknown>
}

/** Notes the requests to the token endpoint. */
function noteTokenRequests(provider: Provider): TokenRequest[] {
  const requests: TokenRequest[] = []
  provider.use(async (context, next) => {
    await next()
    if (context.oidc?.route !== 'token') return
    const method = context.headers.authorization ? 'client_secret_basic' : 'client_secret_post'
    const { status, body } = context
    const grantType = String(context.oidc.params?.grant_type)
    requests.push({ grantType, method, status, answer: Object(body) })
  })
  return requests
}

/** Hides what the provider prints: advice for production. */
export function hideAdvice(): void {
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
}

export type SignInProvider = Awaited<ReturnType<typeof startSignInProvider>>

/**
 * The sign-in service of the app at `appUrl`. By its defaults, ID tokens have no names, discovery lists both methods of client
 * authentication, and the token endpoint accepts both. With `only`, the client is registered with this method, and the metadata
 * lists no other.
 */
export async function startSignInProvider(appUrl: string, only?: ClientAuthMethod) {
  const { server, port, close } = await serve()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: [`${appUrl}/sign-in/callback`],
        post_logout_redirect_uris: [`${appUrl}/`],
        ...(only && { token_endpoint_auth_method: only }),
      },
    ],
    ...(only && { clientAuthMethods: [only] }),
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of Ridgeline` }),
    }),
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
  })
  provider.on('server_error', () => {})
  const tokenRequests = noteTokenRequests(provider)
  server.on('request', provider.callback())
  return { env: envOf(issuer), tokenRequests, close }
}

export type OidcPlatform = Awaited<ReturnType<typeof startPlatform>>

/**
 * The authorization server of the platform of the app at `appUrl`. By its defaults, it issues a refresh token only for the scope
 * `offline_access`, which it grants only with `prompt=consent`, and a refresh returns the same refresh token. With `rotates`, a
 * refresh returns a new refresh token, and a second use of an old one ends the grant.
 */
export async function startPlatform(appUrl: string, { rotates = false, tokenPath = '/oauth/token' } = {}) {
  const { server, port, close } = await serve()
  const url = `http://127.0.0.1:${port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${appUrl}/connect/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access', ...Object.values(platform.scopes)],
    rotateRefreshToken: rotates,
    // The specification of the platform fixes the path of the token endpoint.
    routes: { token: tokenPath },
    features: { revocation: { enabled: true }, introspection: { enabled: true } },
  })
  const grants = new Set<string>()
  provider.on('grant.saved', ({ jti }) => grants.add(jti))
  const tokenRequests = noteTokenRequests(provider)

  // The parts that an authorization server lacks: the page that returns the bxcontext, and an API with any collection.
  const shim = express()
    .get('/oauth2.html', (req, res) => {
      const back = new URL(String(req.query.redirectUrl))
      back.searchParams.set('bxcontext', BXCONTEXT)
      res.redirect(302, back.href)
    })
    .get('/api/:collection', async (req, res) => {
      const [, value = ''] = /^Bearer (.+)$/.exec(req.get('authorization') ?? '') ?? []
      const token = await provider.AccessToken.find(value)
      // The product keeps the access tokens of a grant that was destroyed, and refuses them itself.
      if (token?.grantId && (await provider.Grant.find(token.grantId))) res.json([{ id: '1' }])
      else res.status(401).set('www-authenticate', 'Bearer error="invalid_token"').json({})
    })
  server.on('request', shim.use(provider.callback()))
  return {
    /** The settings of the app for this platform. */
    env: {
      PLATFORM_APP_URL: url,
      PLATFORM_AUTH_URL: url,
      PLATFORM_API_URL: `${url}/api`,
      PLATFORM_AUTHORIZE_PATH: '/auth',
    },
    tokenRequests,
    refreshes: () => tokenRequests.filter(({ grantType }) => grantType === 'refresh_token'),
    /** Ends every grant, as if the users had revoked access. */
    revoke: async () => {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy()
    },
    close,
  }
}

/** Goes through the provider's pages, such as a login, the end of a former user's session, and a consent, until they lead to a url that starts with `stopAt`. */
export async function passPages(visitor: Visitor, start: Answer, stopAt: string, login = 'olivia') {
  let page = await visitor.follow(start, stopAt)
  for (let pages = 0; pages < 3 && !page.url.startsWith(stopAt); pages++) {
    const action = /action="([^"]+)"/.exec(page.text)?.[1]
    if (action === undefined) throw new Error(`${page.url} has no form: ${page.status} ${page.text}`)
    const hidden = page.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)
    const fields = Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, value]))
    const form = { ...fields, ...(fields.prompt === 'login' && { login, password: 'x' }) }
    page = await visitor.follow(await visitor.post(new URL(action, page.url).href, { form }), stopAt)
  }
  return page
}
