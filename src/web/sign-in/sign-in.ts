/**
 * How users sign in: with your own sign-in if `OWN_SIGN_IN` is set, otherwise with OpenID Connect if `OIDC_ISSUER` is set. Without
 * either, users sign in with the demo's form, and the app refuses to start in production. This file also decides which routes
 * exist, how pages offer the sign-in, and whether other machines may connect.
 */
import { Router } from 'express'
import type { EncryptionKey, Http } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { demoEmailOf, demoSignIn } from './demo-sign-in.ts'
import type { OidcProvider } from './oidc-discovery.ts'
import { sessionRoutes } from './session-routes.ts'
import type { OwnSignIn, SignInParts } from './user.ts'
import { createUserEmails } from './user-emails.ts'

/**
 * The sign-in of your product, or null. It is a function that returns a router, and functions for the data that it keeps about
 * users (`SignInParts`). The router has `GET /sign-in`, to which pages link with `returnTo` in the address, and which shows your
 * own form. After the form, call `signIn` of `user.ts`, which begins the session, and redirect to `signedInPath(returnTo)` of
 * `session-routes.ts`. See docs/guides.md for an example with email and password. Tests use the demo's sign-in (`NODE_ENV=test`).
 */
export const OWN_SIGN_IN: OwnSignIn | null = null

export interface SignInOptions {
  oidc: OidcProvider | null
  store: KeyValueStore
  /** The app's public origin. */
  baseUrl: string
  /** The folder for files of the sign-in (`DATA_DIR`). */
  dataDir: string
  /** The first key encrypts; all keys decrypt. */
  encryptionKeys: readonly EncryptionKey[]
  requestedScopes: readonly string[]
  http: Http
}

export interface SignIn extends SignInParts {
  /** Whether anyone can sign in under any name with a form on the start page. Otherwise, pages link to `/sign-in`. */
  isDemo: boolean
  /**
   * Returns `emailOf`, for code that sends emails to users. From this call on, OpenID Connect sign-in stores their addresses. Without
   * it, the app keeps no address.
   */
  useEmails(): SignInParts['emailOf']
}

export async function createSignIn(options: SignInOptions, own: OwnSignIn | null): Promise<SignIn> {
  let areEmailsUsed = false
  const parts = own ? await own(options) : await builtIn(options, () => areEmailsUsed)
  const shared = sessionRoutes(async (req) => (await parts.logoutUrl?.(req)) ?? null)
  return {
    ...parts,
    routes: Router().use(shared, parts.routes),
    isDemo: !own && !options.oidc,
    useEmails() {
      areEmailsUsed = true
      return (userId) => parts.emailOf(userId)
    },
  }
}

async function builtIn(
  { oidc, store, ...rest }: SignInOptions,
  areEmailsUsed: () => boolean,
): Promise<SignInParts> {
  if (oidc) {
    // Imported on demand, because openid-client is a tenth of the code that the app compiles at startup.
    const { oidcSignIn } = await import('./oidc-sign-in.ts')
    const emails = createUserEmails(store, rest.encryptionKeys)
    return { ...oidcSignIn({ ...oidc, ...rest, areEmailsUsed, keepEmail: emails.keep }), ...emails }
  }
  // The demo's sign-in stores only the session of a user.
  const nothing = { deleteUser: async () => {}, exportUser: async () => null }
  return { routes: demoSignIn(rest), ...nothing, emailOf: demoEmailOf }
}
