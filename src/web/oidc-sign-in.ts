import { createHash } from 'node:crypto'
import { type Request, Router } from 'express'
import * as client from 'openid-client'
import { AppError } from '../connect/errors.ts'
import type { Http } from '../connect/index.ts'
import { appOwner, claim, type Key, type KeyValueStore } from '../connect/stores.ts'
import { cookiesBlocked } from './errors.ts'
import { codeOf, discovery, type OidcProvider, SignInUnavailableError } from './oidc-discovery.ts'
import { sendOnward, sendResultOrRedirect, wantsJson } from './respond.ts'
import { localPath } from './return-to.ts'
import { texts } from './texts.ts'
import { currentUser, isUserId, saveSession, signIn, signOut, type User } from './user.ts'

declare module 'express-session' {
  interface SessionData {
    /** Sign-ins that have been started in this browser, the newest last. */
    signIns: PendingSignIn[]
    /** Whether the user has just signed out here. */
    hasSignedOut: boolean
  }
}

interface PendingSignIn {
  state: string
  nonce: string
  codeVerifier: string
  returnTo: string | null
  /** In ms since 1970. */
  startedAt: number
}

/** Sign-ins that one browser may have open at a time, for example in several tabs. */
const MAX_PENDING = 5
/** How long a sign-in may take, in ms. */
const PENDING_MS = 15 * 60_000
/** The longest subject, in characters (OpenID Connect Core 1.0, section 2). */
const MAX_SUBJECT = 255
const CALLBACK = '/sign-in/callback'

/** The redirect URI of this app at the provider. */
export const redirectUriOf = (baseUrl: string) => baseUrl + CALLBACK

export interface OidcOptions extends OidcProvider {
  /** The app's public origin. Register `{baseUrl}/sign-in/callback` as a redirect URI, and `{baseUrl}/` for after logout. */
  baseUrl: string
  /** Where it is recorded which sign-ins have been finished. */
  store: KeyValueStore
  http: Http
}

/** The sign-in was not completed. */
class SignInFailedError extends AppError {
  readonly code = 'sign_in_failed'
  readonly status = 400
  constructor(message: string, reason?: string) {
    super(message, { reason })
  }
}

/**
 * Routes that sign users in and out by OpenID Connect: authorization code flow with PKCE, `state` and `nonce`, and
 * RP-initiated logout if the provider has it. The ID token comes directly from the token endpoint, so the
 * server's certificate replaces the check of its signature (OpenID Connect Core 1.0, section 3.1.3.7).
 */
export function oidcSignIn(options: OidcOptions): Router {
  const { baseUrl, store } = options
  const configuration = discovery(options)
  const redirectUri = redirectUriOf(baseUrl)

  return Router()
    .get('/sign-in', async (req, res) => {
      // Link checkers open addresses with HEAD, and would store a sign-in each.
      if (req.method === 'HEAD') return void res.status(405).set('Allow', 'GET').end()
      // Writing the session of a user could restore it after they have signed out in another tab.
      if (currentUser(req)) return res.redirect(303, localPath(req.query.returnTo) ?? '/')
      const config = await configuration()
      const pending = newSignIn(localPath(req.query.returnTo))
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
        code_challenge_method: 'S256',
      })
      req.session.signIns = [...openSignIns(req), pending].slice(-MAX_PENDING)
      // Many browsers start a sign-in and never come back.
      req.session.cookie.maxAge = PENDING_MS
      await saveSession(req)
      res.redirect(303, url.href)
    })
    .get(CALLBACK, async (req, res) => {
      // Another tab has finished its sign-in, which ended the others.
      if (req.session.user && !openSignIns(req).some(({ state }) => state === req.query.state))
        return res.redirect(303, '/')
      const pending = await claimSignIn(req, store)
      await signIn(req, await userOf(await configuration(), new URL(req.originalUrl, baseUrl), pending))
      res.redirect(303, pending.returnTo ?? '/')
    })
    .post('/sign-out', async (req, res) => {
      const wasSignedIn = currentUser(req) !== null
      await signOut(req)
      const logoutUrl = await logoutUrlOf(options, configuration)
      if (wantsJson(req)) return void res.json({ user: null, logoutUrl })
      if (!wasSignedIn) return res.redirect(303, '/')
      req.session.hasSignedOut = logoutUrl !== null
      req.session.cookie.maxAge = PENDING_MS
      // Through a page of ours: `form-action` keeps a form from being redirected to another site.
      await sendResultOrRedirect(req, res, logoutUrl ? '/signed-out' : '/', { user: null })
    })
    .get('/signed-out', async (req, res) => {
      // A link on another site must not end the session at the provider.
      const logoutUrl = req.session.hasSignedOut ? await logoutUrlOf(options, configuration) : null
      delete req.session.hasSignedOut
      if (!logoutUrl) return res.redirect(303, '/')
      sendOnward(req, res, logoutUrl, texts.signedOut)
    })
}

const newSignIn = (returnTo: string | null): PendingSignIn => ({
  state: client.randomState(),
  nonce: client.randomNonce(),
  codeVerifier: client.randomPKCECodeVerifier(),
  returnTo,
  startedAt: Date.now(),
})

const openSignIns = (req: Request): PendingSignIn[] =>
  (req.session.signIns ?? []).filter(({ startedAt }) => Date.now() - startedAt < PENDING_MS)

/**
 * The sign-in that the callback answers. Of several callbacks at once, one gets it, so that the code is sent once. The
 * others leave the session as it is: saving it could undo the sign-in of the first.
 */
async function claimSignIn(req: Request, store: KeyValueStore): Promise<PendingSignIn> {
  const pending = openSignIns(req).find(({ state }) => state === req.query.state)
  if (!pending)
    throw req.headers.cookie === undefined ? cookiesBlocked() : new SignInFailedError(texts.signIn.notPending)
  const digest = createHash('sha256').update(pending.state).digest('base64url')
  const key: Key = { kind: 'sign-in-claim', owner: appOwner(digest), id: '' }
  if (!(await claim(store, key, 'claimed', PENDING_MS))) throw new SignInFailedError(texts.signIn.notPending)
  return pending
}

/** Exchanges the code and checks the ID token. The user's id is the issuer and the subject together, which never change. */
async function userOf(config: client.Configuration, url: URL, pending: PendingSignIn): Promise<User> {
  try {
    const tokens = await client.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims) throw new SignInFailedError(texts.signIn.unknownUser, 'token response: no ID token')
    // An issuer has no fragment, so both parts can be told apart.
    const id = `${claims.iss}#${claims.sub}`
    if (claims.sub === '' || claims.sub.length > MAX_SUBJECT || !isUserId(id))
      throw new SignInFailedError(
        texts.signIn.unknownUser,
        'ID token: sub is empty, too long, or has control characters',
      )
    return { id, name: nameOf(claims) }
  } catch (error) {
    throw toSignInError(error)
  }
}

/** A name for the page: only to recognise oneself. */
function nameOf(claims: client.IDToken): string {
  const names = [claims.name, claims.preferred_username, claims.email, claims.sub]
  const clean = (name: unknown) =>
    typeof name === 'string'
      ? name
          .toWellFormed()
          .replace(/\p{Cc}/gu, '')
          .trim()
      : ''
  return (names.map(clean).find((name) => name !== '') ?? texts.signIn.unnamed).slice(0, 100)
}

/** Codes, tokens and the provider's texts stay out of errors. */
function toSignInError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof client.AuthorizationResponseError) {
    const message = error.error === 'access_denied' ? texts.signIn.cancelled : texts.signIn.refused
    return new SignInFailedError(message, `authorization response: ${error.error.slice(0, 60)}`)
  }
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_client')
    return new SignInFailedError(
      texts.signIn.misconfigured,
      'token endpoint: invalid_client; check OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_TOKEN_ENDPOINT_AUTH_METHOD',
    )
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AppError) return new SignInUnavailableError(cause.reason ?? cause.message)
  return new SignInFailedError(texts.errors.sign_in_failed.detail, codeOf(error))
}

/** The provider's logout page (OpenID Connect RP-Initiated Logout 1.0); null if it has none or does not answer. */
async function logoutUrlOf(
  { baseUrl, clientId }: OidcOptions,
  configuration: () => Promise<client.Configuration>,
): Promise<string | null> {
  const config = await configuration().catch(() => null)
  if (!config?.serverMetadata().end_session_endpoint) return null
  const parameters = { client_id: clientId, post_logout_redirect_uri: `${baseUrl}/` }
  return client.buildEndSessionUrl(config, parameters).href
}
