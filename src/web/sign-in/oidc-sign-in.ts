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
    /** The ID token of the sign-in, encrypted: whoever reads the store learns nothing about the user from it. */
    idToken: string | undefined
  }
}

/** The longest subject, in characters (OpenID Connect Core 1.0, section 2). */
const MAX_SUBJECT = 255
/** The longest address of a page to return to, in characters: more does not fit into the cookie of the sign-in. */
const MAX_RETURN_TO = 1_000
/** The longest ID token to send back at sign-out, in characters: it is in an address, for which servers have limits. */
const MAX_HINT = 7_000
/** The longest address, in characters (RFC 5321, section 4.5.3.1.3). */
const MAX_EMAIL = 254
const CALLBACK = '/sign-in/callback'
const querySchema = z.object({ returnTo: returnToField })

export interface OidcOptions extends OidcProvider {
  /** The app's public origin. Register `{baseUrl}/sign-in/callback` as a redirect URI, and `{baseUrl}/` for after logout. */
  baseUrl: string
  /** The first encrypts, all of them decrypt. */
  encryptionKeys: readonly EncryptionKey[]
  http: Http
  /** Whether a feature sends emails to users. */
  mailsUsers: boolean
  /** Keeps the address that the provider names at a sign-in, instead of an older one. Null: none that emails may go to. */
  keepEmail(userId: string, email: string | null): Promise<void>
}

/**
 * Signs users in and out by OpenID Connect: authorization code flow with PKCE, `state` and `nonce`, and
 * RP-initiated logout if the provider has it. The ID token comes directly from the token endpoint, so the
 * server's certificate replaces the check of its signature (OpenID Connect Core 1.0, section 3.1.3.7).
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
      const { href } = await authorizationUrl(config, baseUrl, pending)
      started.add(req, res, pending, href)
      res.redirect(303, href)
    })
    .get(CALLBACK, async (req, res) => {
      const pending = started.find(req)
      // Another tab has signed in in the meantime.
      if (currentUser(req)) return res.redirect(303, pending?.returnTo ?? '/')
      if (!pending && req.headers.cookie === undefined) throw signInFailed(texts.signIn.cookiesBlocked)
      // If two callbacks arrive at once, only one sends the code. A later one no longer has the cookie with the state.
      if (!pending || answering.has(pending.state)) throw signInFailed(texts.signIn.notPending)
      answering.add(pending.state)
      try {
        const config = await configuration()
        started.remove(req, res, pending)
        const { user, email, idToken } = await exchange(config, req.originalUrl, options, pending)
        await options.keepEmail(user.id, options.mailsUsers ? email : null)
        await signIn(req, user, { idToken: cipher.encrypt(idToken, idTokenPurpose(user)) })
      } finally {
        answering.delete(pending.state)
      }
      res.redirect(303, pending.returnTo ?? '/')
    })
  return {
    routes,
    logoutUrl: (req) => logoutUrlOf(options, configuration, idTokenOf(req, cipher)),
  }
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

/** The ID token of this session, if it has a readable one. */
function idTokenOf(req: Request, cipher: RecordCipher): string | undefined {
  const { user, idToken } = req.session
  try {
    return user && idToken && cipher.decrypt(idToken, idTokenPurpose(user))
  } catch {
    // Encrypted with a key that is gone.
    return undefined
  }
}

/** Exchanges the code and checks the ID token. The user's id is the issuer and the subject together, which never change. */
async function exchange(
  config: client.Configuration,
  callback: string,
  { baseUrl, mailsUsers, trustsEmail }: OidcOptions,
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
  // An issuer has no fragment, so both parts can be told apart.
  const owner: Pick<User, 'id' | 'team'> = { id: `${claims.iss}#${claims.sub}` }
  if (claims.sub === '' || claims.sub.length > MAX_SUBJECT || !isUserId(owner.id))
    throw signInFailed(
      texts.signIn.unknownUser,
      'ID token: sub is empty, too long, or has control characters',
    )
  const isComplete = cleanName(claims.name) !== '' && (!mailsUsers || emailOf([claims], trustsEmail) !== null)
  // The sign-in also succeeds if UserInfo is missing, fails, or is about someone else (section 5.3.2).
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

/** The claims about a user, in the ID token or from UserInfo (OpenID Connect Core 1.0, section 5.4). */
type Claims = Readonly<Record<string, unknown>>

/** The name that pages show, by which users recognise their account. */
function nameOf(sources: readonly Claims[]): string {
  const names = ['name', 'preferred_username', 'email', 'sub'].flatMap((key) =>
    sources.map((claims) => cleanName(claims[key])),
  )
  return (names.find((name) => name !== '') ?? texts.signIn.unnamed).slice(0, 100)
}

/**
 * The address that the provider calls verified, or of which it says nothing if the operator trusts it; otherwise null. Some providers
 * send the boolean `email_verified` as text.
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
 * Null if the provider has none or does not answer.
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
