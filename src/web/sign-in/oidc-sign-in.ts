import { type Request, Router } from 'express'
import * as client from 'openid-client'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey, type Http, type RecordCipher } from '../../connect/index.ts'
import { signInFailed } from '../requests/errors.ts'
import { returnToField } from '../requests/form-fields.ts'
import { texts } from '../texts.ts'
import { discovery, httpErrorIn, type OidcProvider, reasonOf, signInUnavailable } from './oidc-discovery.ts'
import { type PendingSignIn, pendingSignIns } from './pending-sign-ins.ts'
import { currentUser, isUserId, type SignInParts, signIn, type User } from './user.ts'

declare module 'express-session' {
  interface SessionData {
    /** The ID token of the sign-in, encrypted so that the store does not reveal the user's data. */
    idToken: string | undefined
  }
}

/** The longest subject, in characters (OpenID Connect Core 1.0, section 2). */
const MAX_SUBJECT = 255
/** The longest address of a page to return to, in characters. A longer address would not fit into the sign-in cookie. */
const MAX_RETURN_TO = 1_000
/** The longest ID token to send at sign-out, in characters. It is part of an address, and servers limit its length. */
const MAX_HINT = 7_000
/** The longest email address, in characters (RFC 5321, section 4.5.3.1.3). */
const MAX_EMAIL = 254
const CALLBACK = '/sign-in/callback'
const querySchema = z.object({ returnTo: returnToField })

export interface OidcOptions extends OidcProvider {
  /** The app's public origin. Register `{baseUrl}/sign-in/callback` as a redirect URI, and `{baseUrl}/` for after logout. */
  baseUrl: string
  /** The first key encrypts; all keys decrypt. */
  encryptionKeys: readonly EncryptionKey[]
  http: Http
  /** Whether a feature sends emails to users. */
  areEmailsUsed(): boolean
  /** Stores the email address of a sign-in, and replaces an older address. Null: the sign-in has no usable address. */
  keepEmail(userId: string, email: string | null): Promise<void>
}

/**
 * Signs users in and out by OpenID Connect: authorization code flow with PKCE, `state` and `nonce`, and RP-initiated logout if the
 * provider has it. The ID token comes directly from the token endpoint over TLS, so its signature need not be checked (OpenID
 * Connect Core 1.0, section 3.1.3.7).
 */
export function oidcSignIn(options: OidcOptions): Pick<SignInParts, 'routes' | 'logoutUrl'> {
  const { baseUrl } = options
  const configuration = discovery(options)
  const cipher = createRecordCipher(options.encryptionKeys)
  const started = pendingSignIns(cipher, baseUrl)
  /** The states of the callbacks that are being answered. */
  const answering = new Set<string>()

  const routes = Router()
    .get('/sign-in', async (req, res) => {
      const { returnTo } = querySchema.parse(req.query)
      if (currentUser(req)) return res.redirect(303, returnTo ?? '/')
      const config = await configuration()
      const pending = newSignIn(returnTo)
      const url = await authorizationUrl(config, baseUrl, pending)
      started.add(req, res, pending, url.href)
      res.redirect(303, url.href)
    })
    .get(CALLBACK, async (req, res) => {
      const pending = started.find(req)
      // Another tab has signed in already.
      if (currentUser(req)) {
        if (pending) started.remove(res, pending)
        return res.redirect(303, pending?.returnTo ?? '/')
      }
      if (!pending && req.headers.cookie === undefined) throw signInFailed(texts.signIn.cookiesBlocked)
      // If two callbacks arrive at once, only one sends the code. A later callback no longer has the cookie with the state.
      if (!pending || answering.has(pending.state)) throw signInFailed(texts.signIn.notPending)
      answering.add(pending.state)
      try {
        const config = await configuration()
        started.remove(res, pending)
        const { user, email, idToken } = await exchange(config, req.originalUrl, options, pending)
        await options.keepEmail(user.id, options.areEmailsUsed() ? email : null)
        await signIn(req, user, { idToken: cipher.encrypt(idToken, idTokenPurpose(user)) })
      } finally {
        answering.delete(pending.state)
      }
      res.redirect(303, pending.returnTo ?? '/')
    })
  return { routes, logoutUrl: (req) => logoutUrlOf(options, configuration, idTokenOf(req, cipher)) }
}

const newSignIn = (returnTo: string | null): PendingSignIn => ({
  state: client.randomState(),
  nonce: client.randomNonce(),
  codeVerifier: client.randomPKCECodeVerifier(),
  returnTo: returnTo && returnTo.length > MAX_RETURN_TO ? null : returnTo,
  startedAt: Date.now(),
})

const authorizationUrl = async (config: client.Configuration, baseUrl: string, pending: PendingSignIn) =>
  client.buildAuthorizationUrl(config, {
    redirect_uri: baseUrl + CALLBACK,
    scope: 'openid profile email',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(pending.codeVerifier),
    code_challenge_method: 'S256',
  })

/** The encryption of an ID token is bound to this text, which names its user. */
const idTokenPurpose = ({ id }: User) => `ID token of ${id}`

/** The ID token of this session, if there is one that can be decrypted. */
function idTokenOf(req: Request, cipher: RecordCipher): string | undefined {
  const { user, idToken } = req.session
  try {
    return user && idToken && cipher.decrypt(idToken, idTokenPurpose(user))
  } catch {
    // Encrypted with a key that was removed.
    return undefined
  }
}

/** Exchanges the code and checks the ID token. The user's id combines the issuer and the subject, which never change. */
async function exchange(
  config: client.Configuration,
  callback: string,
  { baseUrl, areEmailsUsed, trustsEmail }: OidcOptions,
  pending: PendingSignIn,
): Promise<{ user: User; email: string | null; idToken: string }> {
  const tokens = await client
    .authorizationCodeGrant(config, new URL(callback, baseUrl), {
      pkceCodeVerifier: pending.codeVerifier,
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    })
    .catch((error: unknown) => {
      throw signInError(error)
    })
  const claims = tokens.claims()
  if (!claims || !tokens.id_token) throw signInFailed(texts.signIn.unknownUser, 'token response: no ID token')
  // An issuer contains no "#", so the two parts can't be confused.
  const owner: Pick<User, 'id' | 'team'> = { id: `${claims.iss}#${claims.sub}` }
  if (claims.sub === '' || claims.sub.length > MAX_SUBJECT || !isUserId(owner.id))
    throw signInFailed(
      texts.signIn.unknownUser,
      'ID token: sub is empty, too long, or has control characters',
    )
  const isComplete =
    cleanName(claims.name) !== '' && (!areEmailsUsed() || emailOf([claims], trustsEmail) !== null)
  // The sign-in also succeeds if UserInfo is missing, fails, or belongs to another user (section 5.3.2).
  const info = isComplete
    ? undefined
    : await client.fetchUserInfo(config, tokens.access_token, claims.sub).catch(() => undefined)
  const sources = [claims, info ?? {}]
  return {
    user: { ...owner, name: nameOf(sources) },
    email: emailOf(sources, trustsEmail),
    idToken: tokens.id_token,
  }
}

/** The claims about a user, from the ID token or UserInfo (OpenID Connect Core 1.0, section 5.4). */
type Claims = Readonly<Record<string, unknown>>

/** The name on pages, by which users recognize their account. */
function nameOf(sources: readonly Claims[]): string {
  const names = ['name', 'preferred_username', 'email', 'sub'].flatMap((key) =>
    sources.map((claims) => cleanName(claims[key])),
  )
  return (names.find((name) => name !== '') ?? texts.signIn.unnamed).slice(0, 100)
}

/**
 * The verified email address, or an address without `email_verified` if the operator trusts the provider; otherwise null. Some
 * providers send the boolean `email_verified` as text.
 */
function emailOf(sources: readonly Claims[], trustsEmail: boolean): string | null {
  const isVerified = ({ email_verified }: Claims) => String(email_verified ?? trustsEmail) === 'true'
  if (sources.some(({ email_verified }) => String(email_verified) === 'false')) return null
  const emails = sources
    .filter(isVerified)
    .map(({ email }) => (typeof email === 'string' ? email.trim() : ''))
  return emails.find((email) => email !== '' && email.length <= MAX_EMAIL) ?? null
}

const cleanName = (name: unknown): string =>
  typeof name === 'string'
    ? name
        .toWellFormed()
        .replace(/\p{Cc}/gu, '')
        .trim()
    : ''

function signInError(error: unknown) {
  if (error instanceof client.AuthorizationResponseError) {
    const message = error.error === 'access_denied' ? texts.signIn.cancelled : texts.signIn.refused
    return signInFailed(message, `authorization response: ${error.error.slice(0, 60)}`)
  }
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_client')
    return signInFailed(
      texts.signIn.misconfigured,
      'token endpoint: invalid_client; check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET',
    )
  if (httpErrorIn(error)) return signInUnavailable(reasonOf(error))
  return signInFailed(texts.errors.sign_in_failed.detail, reasonOf(error))
}

/**
 * The provider's logout page (OpenID Connect RP-Initiated Logout 1.0), with the ID token as a hint, which some providers require.
 * Null if the provider doesn't offer this page or doesn't answer.
 */
async function logoutUrlOf(
  { baseUrl, clientId }: OidcOptions,
  configuration: () => Promise<client.Configuration>,
  idToken: string | undefined,
): Promise<string | null> {
  const config = await configuration().catch(() => null)
  if (!config?.serverMetadata().end_session_endpoint) return null
  const parameters = {
    client_id: clientId,
    post_logout_redirect_uri: `${baseUrl}/`,
    ...(idToken && idToken.length <= MAX_HINT && { id_token_hint: idToken }),
  }
  return client.buildEndSessionUrl(config, parameters).href
}
