import type { Request, RequestHandler, Router } from 'express'
import type { SessionData } from 'express-session'
import type { KeyValueStore } from '../../connect/stores.ts'
import { notSignedIn, WebError } from '../requests/errors.ts'
import { texts } from '../texts.ts'

/** A user of this app. */
export interface User {
  /** Identifies the owner of connections, so it must never change or be reused. See `isUserId`. */
  id: string
  name: string
  /** The name of the team that shares this id's connections. Pages show it after "everyone at". */
  team?: string
}

declare module 'express-session' {
  interface SessionData {
    user: User
  }
}

/** A sign-in, and the data that it keeps of users outside their sessions. A `userId` may be unknown. */
export interface SignInParts {
  routes: Router
  /**
   * Resolves to the page of a sign-in service that ends the session there, or null. The browser opens it after signing out here,
   * which doesn't wait for the service.
   */
  logoutUrl?(req: Request): Promise<string | null>
  /** Deletes all data that it keeps about a user, so that signing in as this user is no longer possible. */
  deleteUser(userId: string): Promise<void>
  /** Resolves to the data that it keeps about a user, without secrets, as a JSON value. Null if there is none. */
  exportUser(userId: string): Promise<unknown>
  /** Resolves to the user's email address, or null if there is none. */
  emailOf(userId: string): Promise<string | null>
}

/** The sign-in of your product, with the route `GET /sign-in`. `sign-in.ts` uses it. */
export type OwnSignIn = (options: {
  store: KeyValueStore
  /** The app's public origin, without a trailing slash. */
  baseUrl: string
  /** The folder for files of the sign-in (`DATA_DIR`). */
  dataDir: string
}) => SignInParts | Promise<SignInParts>

/** Returns the signed-in user, or null. */
export function currentUser(req: Request): User | null {
  return req.session?.user ?? null
}

/** Returns the id of the signed-in user. Throws `unauthenticated` (401). */
export function requireUser(req: Request): string {
  const user = currentUser(req)
  if (!user) throw notSignedIn(req.method === 'GET' ? undefined : texts.signIn.notSaved)
  return user.id
}

/** Lets only signed-in users pass. Throws `unauthenticated` (401) before any other check. */
export const signedInOnly: RequestHandler = (req, _res, next) => {
  requireUser(req)
  next()
}

/** The longest user id, in characters. An issuer and a subject of OpenID Connect are shorter. */
const MAX_USER_ID = 1024

/**
 * Whether a value can be the id of a user: 1 to 1,024 characters of well-formed text without control characters, which the
 * app's own records use.
 */
export const isUserId = (id: unknown): id is string =>
  typeof id === 'string' &&
  id.length > 0 &&
  id.length <= MAX_USER_ID &&
  id.isWellFormed() &&
  !/\p{Cc}/u.test(id)

/**
 * Signs a user in. The session gets a new id, and the connect flows of the old session become invalid. `data`: further values for
 * the session. Throws an error with a reason for the log if `isUserId(user.id)` is false.
 */
export async function signIn(req: Request, user: User, data: Partial<SessionData> = {}): Promise<void> {
  if (!isUserId(user.id))
    throw new WebError(500, 'internal_error', undefined, {
      reason: `signIn(req, user): user.id must be 1 to ${MAX_USER_ID} characters of text without control characters`,
    })
  try {
    await req.beginSession?.({ ...data, user })
  } catch (error) {
    // Otherwise, express-session would try again to save the session with the error response.
    Object.assign(req, { session: null })
    throw error
  }
}

/** Signs the user out: deletes the session and its connect flows. `everywhere`: also ends the user's other sessions. */
export async function signOut(req: Request, options: { everywhere: boolean }): Promise<void> {
  if (currentUser(req)) await req.endSession?.(options)
}
