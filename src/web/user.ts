import type { Request } from 'express'
import { notSignedIn } from './errors.ts'

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

/** Signs a user in. The session gets a new id, and pending authorization requests of the old one become invalid. */
export async function signIn(req: Request, user: User): Promise<void> {
  await regenerateSession(req)
  req.session.user = user
  await saveSession(req)
}

/** Signs the user out. */
export const signOut = (req: Request): Promise<void> => regenerateSession(req)

/** Saves the session before responding: the next request may arrive first, and a failure must not look like success. */
export function saveSession(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.save((error: unknown) => (error ? reject(error) : resolve()))
  })
}

function regenerateSession(req: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    req.session.regenerate((error: unknown) => (error ? reject(error) : resolve()))
  })
}
