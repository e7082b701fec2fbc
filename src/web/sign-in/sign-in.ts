/**
 * How users sign in: by your own sign-in if `OWN_SIGN_IN` is set, and otherwise by OpenID Connect if `OIDC_ISSUER` is set.
 * Without either, the demo's form signs users in, and the app refuses to start in production. This file decides which
 * routes exist, what pages show to visitors, and whether other machines may connect.
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
 * users (`SignInParts`). The router has `GET /sign-in`, to which pages link. It calls `signIn` of `user.ts`, which begins the
 * session, and then redirects to `signedInPath(req.query.returnTo)` of `session-routes.ts`. The form on the page is yours: pages
 * only send `returnTo` in the address. docs/guides.md has one for email and password. Tests run the app with the demo's sign-in (`NODE_ENV=test`).
 */
export const OWN_SIGN_IN: OwnSignIn | null = null

export interface SignInOptions {
  oidc: OidcProvider | null
  store: KeyValueStore
  /** The app's public origin. */
  baseUrl: string
  /** The folder for files. */
  dataDir: string
  /** The first encrypts, all of them decrypt. */
  encryptionKeys: readonly EncryptionKey[]
  requestedScopes: readonly string[]
  http: Http
  /** Whether a feature sends emails to users. If so, OpenID Connect keeps their addresses. */
  mailsUsers: boolean
}

export interface SignIn extends SignInParts {
  /** Whether anyone can sign in under any name, by a form on the start page. Otherwise pages link to `/sign-in`. */
  isDemo: boolean
}

export async function createSignIn(options: SignInOptions, own: OwnSignIn | null): Promise<SignIn> {
  const parts = own ? await own(options) : await builtIn(options)
  const shared = sessionRoutes(async (req) => (await parts.logoutUrl?.(req)) ?? null)
  return { ...parts, routes: Router().use(shared, parts.routes), isDemo: !own && !options.oidc }
}

async function builtIn({ oidc, store, mailsUsers, ...rest }: SignInOptions): Promise<SignInParts> {
  if (oidc) {
    // Imported only here, since it loads openid-client, a tenth of what the app has to compile at its start.
    const { oidcSignIn } = await import('./oidc-sign-in.ts')
    const emails = createUserEmails(store, rest.encryptionKeys)
    return { ...oidcSignIn({ ...oidc, ...rest, mailsUsers, keepEmail: emails.keep }), ...emails }
  }
  // The demo's sign-in keeps nothing about a user except the session.
  const nothing = { deleteUser: async () => {}, exportUser: async () => null }
  return { routes: demoSignIn(rest), ...nothing, emailOf: demoEmailOf }
}
