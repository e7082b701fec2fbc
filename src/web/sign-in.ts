/**
 * How users sign in: by OpenID Connect if `OIDC_ISSUER` is set, otherwise by the demo's sign-in, with which the app
 * refuses to start in production.
 *
 * To use your own sign-in, return your router in `signInRoutes` and set `HAS_OWN_SIGN_IN` to true. Call `signIn` and
 * `signOut` of `user.ts`, which renew the session.
 */
import type { Router } from 'express'
import type { Http } from '../connect/platform/http.ts'
import { demoSignIn } from './demo-sign-in.ts'
import { type OidcProvider, oidcSignIn } from './oidc-sign-in.ts'

/** Whether `signInRoutes` has the sign-in of your product. */
export const HAS_OWN_SIGN_IN = false

/** Whether this app uses the demo's sign-in. */
export const isDemo = ({ oidc }: { oidc: OidcProvider | null }): boolean => !HAS_OWN_SIGN_IN && oidc === null

export interface SignInOptions {
  oidc: OidcProvider | null
  /** The app's public origin. */
  baseUrl: string
  requestedScopes: readonly string[]
  http: Http
}

/** Routes that sign users in and out. */
export const signInRoutes = ({ oidc, requestedScopes, ...options }: SignInOptions): Router =>
  oidc ? oidcSignIn({ ...oidc, ...options }) : demoSignIn({ requestedScopes })
