/**
 * Demo sign-in, to be replaced by your product's own. It signs in anyone under any name, so the app refuses to start in
 * production while `DEMO` is true.
 *
 * To replace it, keep the exports: `currentUser`, `requireUser`, `signInRoutes`, and `DEMO`, which becomes false. As below, regenerate
 * the session id whenever a user signs in or out, and save the session before responding.
 */
import { type Request, Router } from 'express'
import { badInput, notSignedIn, rejectForm } from './errors.ts'
import { sendResultOrRedirect } from './respond.ts'
import { localPath } from './return-to.ts'

/** Whether this is the demo sign-in. */
export const DEMO = true

/** The warning on every page and in the log if `DEMO_ALLOW_REMOTE` is true. */
export const OPEN_DEMO =
  'DEMO_ALLOW_REMOTE is true: anyone who can reach this address can sign in under any name and use its connections.'

/** A user of this app. `id` identifies the owner of connections: it must never change or be reused. */
export interface User {
  id: string
  name: string
}

declare module 'express-session' {
  interface SessionData {
    user: User
  }
}

/** Returns the signed-in user, or null. */
export function currentUser(req: Request): User | null {
  return req.session?.user ?? null
}

/** Returns the id of the signed-in user. Throws `unauthenticated` (401). */
export function requireUser(req: Request): string {
  const user = currentUser(req)
  if (!user) throw notSignedIn()
  return user.id
}

/** Routes that sign users in and out. `requestedScopes`: shown on the start page after an invalid name. */
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
      await regenerateSession(req)
      req.session.user = { id: name, name }
      await saveSession(req)
      await sendResultOrRedirect(req, res, localPath(req.body.returnTo) ?? '/', { user: { name } })
    })
    .post('/sign-out', async (req, res) => {
      await regenerateSession(req)
      await sendResultOrRedirect(req, res, '/', { user: null })
    })
}

/** Saves the session before responding: the next request may arrive first, and a failure must not look like success. */
function saveSession(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.save((error: unknown) => (error ? reject(error) : resolve()))
  })
}

/** Replaces the session, and its id, by a new one. Pending authorization requests of the old session become invalid. */
function regenerateSession(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.regenerate((error: unknown) => (error ? reject(error) : resolve()))
  })
}
