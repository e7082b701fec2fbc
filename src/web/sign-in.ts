/**
 * Sign-in: the seam where this starter meets your product. Whoever types a name is signed in as that name, which
 * is right for a demo and wrong for anything else, so the app refuses to start in production while `DEMO` is true.
 *
 * Replace this file with yours: keep `currentUser`, `requireUser` and `signInRoutes`, set `DEMO` to false, and
 * renew the session id whenever a user signs in or out and save the session before you answer, as below.
 */
import { type Request, Router } from 'express'
import { badInput, notSignedIn, rejectForm } from './errors.ts'
import { sendResultOrRedirect } from './respond.ts'
import { localPath } from './return-to.ts'

export const DEMO = true

/** The warning on every page and in the log while `DEMO_ALLOW_REMOTE` is true. */
export const OPEN_DEMO =
  'DEMO_ALLOW_REMOTE is true: everyone who can reach this address can sign in with any name and see what that name has connected.'

/** The user of this app. `id` owns connections: it must never change and never be given to somebody else. */
export interface User {
  id: string
  name: string
}

declare module 'express-session' {
  interface SessionData {
    user: User
  }
}

/** Who is signed in, or null. */
export function currentUser(req: Request): User | null {
  return req.session?.user ?? null
}

/** The id of the signed-in user. Throws `unauthenticated` (401). */
export function requireUser(req: Request): string {
  const user = currentUser(req)
  if (!user) throw notSignedIn()
  return user.id
}

/** `requestedScopes`: the scopes that the start page names. */
export function signInRoutes({ requestedScopes }: { requestedScopes: readonly string[] }): Router {
  return Router()
    .post('/sign-in', async (req, res) => {
      const name = typeof req.body?.name === 'string' ? req.body.name.normalize('NFC').trim() : ''
      if (!name || name.length > 100 || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
        const error = badInput('name', 'enter a name of 1 to 100 characters')
        return rejectForm(req, res, error, async () => ({
          view: 'app/home',
          title: 'Connect your account',
          data: { requestedScopes, returnTo: localPath(req.body?.returnTo) },
        }))
      }
      await renew(req)
      req.session.user = { id: name, name }
      await save(req)
      await sendResultOrRedirect(req, res, localPath(req.body.returnTo) ?? '/', { user: { name } })
    })
    .post('/sign-out', async (req, res) => {
      await renew(req)
      await sendResultOrRedirect(req, res, '/', { user: null })
    })
}

/** Stores the session before the answer: the next request may be faster, and a failure must not look like success. */
function save(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.save((error: unknown) => (error ? reject(error) : resolve()))
  })
}

/** A new session with a new id; the old one is gone, and with it every authorization request that it had started. */
function renew(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.regenerate((error: unknown) => (error ? reject(error) : resolve()))
  })
}
