import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Response } from 'express'
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from './database.ts'
import { type Faults, fail, SLOW_MS } from './faults.ts'
import type { Journal } from './journal.ts'

/** An application as the platform's support registers it. */
export interface RegisteredApp {
  name: string
  /** Path of its logo among the sandbox's assets, shown on the consent page. */
  logo?: string
  clientId: string
  clientSecret: string
  /** Plain urls: the one that receives bxcontext and the redirect_uri of the consent. */
  redirectUrls: string[]
}

/** What a scope means, in the words of the consent page. */
export const SCOPES: Record<string, string> = {
  leads: 'See your leads and create new ones',
  catalogues: 'See and update your catalogues and their prices',
}

/** Cookies of the identity provider; the login page clears them, so that another account can follow. */
export const PROVIDER_COOKIES = ['platform_sso', 'platform_interaction', 'platform_resume']

const ENDPOINT_OF: Record<string, 'exchange' | 'refresh'> = {
  authorization_code: 'exchange',
  refresh_token: 'refresh',
}

export interface IdentityOptions {
  issuer: string
  apps: RegisteredApp[]
  database: Database
  faults: Faults
  journal: Journal
  /** Life of an access token in seconds. */
  accessTokenSeconds: number
  renderError(res: Response, status: number, message: string): void
}

/**
 * The identity provider, on oidc-provider: codes count once, refresh tokens do not rotate and are bound to their
 * bxcontext. Each consent is a grant of its own, and an earlier one for the same business lives on: several users of an
 * application may share a login on the platform.
 */
export function createIdentity(options: IdentityOptions): Provider {
  const { issuer, apps, database, faults, journal } = options
  const configuration: Configuration = {
    adapter: (model: string) => database.adapter(model),
    clients: apps.map((app) => ({
      client_id: app.clientId,
      client_secret: app.clientSecret,
      client_name: app.name,
      redirect_uris: app.redirectUrls,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      // No id token is ever issued, but the provider wants an algorithm that its one key can do.
      id_token_signed_response_alg: 'ES256',
    })),
    cookies: {
      names: { session: 'platform_sso', interaction: 'platform_interaction', resume: 'platform_resume' },
      keys: [database.setting('cookie key', () => randomBytes(32).toString('base64url'))],
    },
    jwks: { keys: [JSON.parse(database.setting('signing key', newSigningKey))] },
    scopes: Object.keys(SCOPES),
    responseTypes: ['code'],
    pkce: { required: () => false },
    routes: { authorization: '/authorize', token: '/oauth/token' },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
    },
    extraParams: ['bxcontext'],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_ctx, { uid }) => `/consent/${uid}` },
    // A grant comes from this very consent or not at all: every visit to the consent page asks again.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: false,
    expiresWithSession: () => false,
    extraTokenClaims: async (ctx, token) => {
      checkContext(ctx, token.kind === 'AccessToken' ? token.grantId : undefined)
      return undefined
    },
    ttl: {
      AccessToken: options.accessTokenSeconds,
      AuthorizationCode: 60,
      Grant: 400 * 86_400,
      Interaction: 3600,
      RefreshToken: 400 * 86_400,
      Session: 86_400,
    },
    renderError: (ctx, { error, error_description }) => {
      ctx.respond = false
      options.renderError(ctx.res as Response, ctx.status || 400, error_description ?? error)
    },
  }
  const provider = new Provider(issuer, configuration)
  // Reached by https, it stands behind a proxy that ends TLS.
  provider.proxy = issuer.startsWith('https:')

  /** Tokens are bound to the business they were granted for (specification 5.3.6). */
  function checkContext(ctx: KoaContextWithOIDC, grantId: string | undefined): void {
    const consent = grantId && database.consents.of(grantId)
    if (!consent || ctx.oidc.body?.bxcontext !== consent.context) {
      throw new errors.InvalidGrant('bxcontext is missing, or not the one that was granted')
    }
  }

  // A code that comes twice ends its grant (RFC 6749 section 4.1.2).
  provider.on('grant.revoked', (_ctx, grantId) => database.consents.remove(grantId))

  provider.use(async (ctx, next) => {
    await next()
    const endpoint = ENDPOINT_OF[String(ctx.oidc?.params?.grant_type)]
    if (ctx.oidc?.route !== 'token' || !endpoint) return
    // After the work, as in a real outage: the answer is lost, what was done stays done.
    const fault = faults.strike(endpoint)
    if (fault?.fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
    else if (fault) {
      ctx.respond = false
      fail(ctx.res as Response, fault)
    }
    journal.add(
      endpoint,
      fault && (fault.fault === 'stall' || fault.fault === 'drop') ? 'no answer' : ctx.res.statusCode,
    )
  })
  return provider
}

function newSigningKey(): string {
  return JSON.stringify(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  )
}
