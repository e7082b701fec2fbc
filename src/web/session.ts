import type { RequestHandler } from 'express'
import session, { type Store } from 'express-session'

/** A session ends this long after sign-in, in ms. */
export const SESSION_MS = 24 * 3_600_000

export interface SessionOptions {
  store: Store
  /** The first signs cookies, all of them verify. */
  secrets: string[]
  baseUrl: string
}

/** The session cookie: HttpOnly, SameSite=Lax (it must come along when the platform sends the browser back), Secure on https. */
export function sessions({ store, secrets, baseUrl }: SessionOptions): RequestHandler[] {
  const secure = baseUrl.startsWith('https:')
  return [
    (req, _res, next) => {
      // We treat an https BASE_URL as proof that TLS terminates upstream.
      if (secure) Object.defineProperty(req, 'secure', { value: true })
      next()
    },
    session({
      store,
      secret: secrets,
      // The prefix makes browsers insist on Secure, this host and the whole path.
      name: secure ? '__Host-connect' : 'connect',
      cookie: { httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge: SESSION_MS },
      resave: false,
      saveUninitialized: false,
    }),
  ]
}
