import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Response } from 'express'
import Provider, {
  type ClientMetadata,
  type Configuration,
  errors,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import { connectableBusiness, findAccount } from './accounts.ts'
import type { Consents } from './consents.ts'
import { type Faults, SHORT_LIFE_SECONDS, sendFault } from './faults.ts'
import type { RegisteredApp, SandboxState } from './feature.ts'
import { createOidcAdapter } from './oidc-adapter.ts'
import { problem } from './pages.ts'
import { addressesOf, PLATFORM } from './platform.ts'

/** Cookies of the identity provider; the login page clears them so that another account can log in. */
export const PROVIDER_COOKIES = ['platform_sso', 'platform_interaction', 'platform_resume']

const ENDPOINT_OF: Record<string, 'exchange' | 'refresh'> = {
  authorization_code: 'exchange',
  refresh_token: 'refresh',
}

/**
 * The identity provider, built on oidc-provider. Codes are single-use. Refresh tokens do not rotate, and are bound to their
 * bxcontext. Each consent creates a grant of its own and leaves earlier grants for the same business valid, because several users
 * of an application may share a login on the platform.
 */
export function createIdentity(state: SandboxState): Provider {
  const { baseUrl, consents, faults, journal, slowMs } = state
  const issuer = addressesOf(baseUrl).authUrl
  const provider = new Provider(issuer, configurationOf(state))
  // The provider's links and redirects use this address. Otherwise, Koa would take the address from the request.
  Object.defineProperty(provider.request, 'href', { value: issuer })

  // Reusing a code revokes its grant (RFC 6749 section 4.1.2).
  provider.on('grant.revoked', (_ctx, grantId) => consents.revoke(grantId))

  provider.use(async (ctx, next) => {
    await next()
    const endpoint = ENDPOINT_OF[String(ctx.oidc?.params?.grant_type)]
    if (ctx.oidc?.route !== 'token' || !endpoint) return
    if (ctx.status === 200) Object.assign(ctx.body as object, namesOf(ctx as KoaContextWithOIDC, consents))
    // The fault replaces only the response, because the tokens have already been issued, as in a real outage.
    const fault = faults.strike(endpoint)
    if (fault?.fault === 'slow') await new Promise((resolve) => setTimeout(resolve, slowMs))
    else if (fault && fault.fault !== 'short_lived') {
      ctx.respond = false
      sendFault(ctx.res as Response, fault)
    }
    const isUnanswered = fault?.fault === 'stall' || fault?.fault === 'drop'
    const bxcontext = ctx.oidc.body?.[PLATFORM.bxcontext]
    journal.add(
      endpoint,
      isUnanswered ? 'no answer' : ctx.res.statusCode,
      typeof bxcontext === 'string' ? bxcontext : undefined,
    )
  })
  return provider
}

function configurationOf(state: SandboxState): Configuration {
  const { sql, apps, scopes, setting, consents, faults, accessTokenSeconds } = state
  return {
    adapter: createOidcAdapter(sql),
    clients: apps.map(clientOf),
    cookies: {
      names: { session: 'platform_sso', interaction: 'platform_interaction', resume: 'platform_resume' },
      keys: [setting('cookie key', () => randomBytes(32).toString('base64url'))],
    },
    jwks: { keys: [JSON.parse(setting('signing key', newSigningKey))] },
    scopes: Object.keys(scopes),
    responseTypes: ['code'],
    pkce: { required: () => false },
    routes: {
      authorization: PLATFORM.authorizePath,
      token: PLATFORM.tokenPath,
      revocation: PLATFORM.revocationPath,
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      // RFC 7009; the app uses it if PLATFORM_REVOCATION_URL is set.
      revocation: { enabled: true },
    },
    extraParams: { [PLATFORM.bxcontext]: (ctx) => refuseUnknownScopes(ctx, state) },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_ctx, { uid }) => `/consent/${uid}` },
    // Grants come only from this consent, so every visit to the consent page asks again.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: false,
    expiresWithSession: () => false,
    extraTokenClaims: async (ctx, token) => {
      checkBxcontext(ctx, consents, token.kind === 'AccessToken' ? token.grantId : undefined)
      return undefined
    },
    ttl: {
      AccessToken: (ctx) => (isShortLived(ctx, faults) ? SHORT_LIFE_SECONDS : accessTokenSeconds),
      // The most that RFC 6749 section 4.1.2 recommends (10 minutes), because a demo may pause before the exchange.
      AuthorizationCode: 600,
      Grant: 400 * 86_400,
      Interaction: 3600,
      RefreshToken: 400 * 86_400,
      Session: 86_400,
    },
    renderError: (ctx, { error, error_description }) => {
      ctx.respond = false
      problem(ctx.res as Response, ctx.status || 400, error_description ?? error)
    },
  }
}

/** Rejects unknown scopes, which the provider would ignore. The provider calls this for each authorization request. */
function refuseUnknownScopes(ctx: KoaContextWithOIDC, { scopes }: SandboxState): void {
  const names = String(ctx.oidc.body?.scope ?? ctx.query.scope ?? '').split(' ')
  const unknown = names.find((name) => name !== '' && !(name in scopes))
  if (unknown) throw new errors.InvalidScope('unknown scope', unknown)
}

const isShortLived = (ctx: KoaContextWithOIDC, faults: Faults) =>
  faults.has(ENDPOINT_OF[String(ctx.oidc?.params?.grant_type)] ?? '', 'short_lived')

const clientOf = (app: RegisteredApp): ClientMetadata => ({
  client_id: app.clientId,
  client_secret: app.clientSecret,
  client_name: app.name,
  redirect_uris: app.redirectUrls,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_post',
  // The sandbox issues no id tokens, but the provider requires an algorithm that its only key supports.
  id_token_signed_response_alg: 'ES256',
})

/** Tokens are bound to the business they were granted for (specification 5.3.6). */
function checkBxcontext(ctx: KoaContextWithOIDC, consents: Consents, grantId: string | undefined): void {
  const consent = grantId && consents.find(grantId)
  if (!consent || ctx.oidc.body?.[PLATFORM.bxcontext] !== consent.bxcontext) {
    throw new errors.InvalidGrant('the bxcontext is missing or differs from the granted one')
  }
}

/** The names of the business and the person, for the token response. */
function namesOf(ctx: KoaContextWithOIDC, consents: Consents) {
  const consent = consents.find(ctx.oidc.entities.AccessToken?.grantId ?? '')
  const account = findAccount(consent?.account)
  const business = account && connectableBusiness(account, consent?.bxcontext)
  return { business_name: business?.name, user_name: account?.name }
}

function newSigningKey(): string {
  return JSON.stringify(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  )
}
