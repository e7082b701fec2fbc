import type { RequestHandler } from 'express'
import session, { type Store } from 'express-session'

/** Lifetime of a session after sign-in, in ms. */
const SESSION_MS = 24 * 3_600_000

export interface SessionOptions {
  store: Store
  /** Secrets for cookies: the first signs, all of them verify. */
  secrets: string[]
  baseUrl: string
}

/** Sessions with an HttpOnly cookie: SameSite=Lax, since the platform redirects back here; Secure with https. */
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
      // Browsers accept the __Host- prefix only with Secure, Path=/ and no Domain.
      name: secure ? '__Host-connect' : 'connect',
      cookie: { httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge: SESSION_MS },
      resave: false,
      saveUninitialized: false,
    }),
  ]
}
