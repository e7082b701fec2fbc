import type { RequestHandler } from 'express'
import session, { type Store } from 'express-session'
import manifest from '../../package.json' with { type: 'json' }

/** Lifetime of a session after sign-in, in ms. */
const SESSION_MS = 24 * 3_600_000

export interface SessionOptions {
  store: Store
  /** Secrets for cookies: the first signs, all of them verify. */
  secrets: string[]
  baseUrl: string
}

/**
 * The name of the session cookie: that of the product, as in package.json, and the port of `baseUrl`, since cookies ignore
 * ports and two products on one host would sign each other's users out.
 */
export function sessionCookie(baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl)
  const name = manifest.name.replace(/[^\w-]+/g, '-') + (port && `-${port}`)
  // Browsers accept the __Host- prefix only with Secure, Path=/ and no Domain.
  return protocol === 'https:' ? `__Host-${name}` : name
}

/** Sessions with an HttpOnly cookie: SameSite=Lax, since the platform redirects back here; Secure with https. */
export function sessions({ store, secrets, baseUrl }: SessionOptions): RequestHandler {
  const secure = baseUrl.startsWith('https:')
  const load = session({
    store,
    secret: secrets,
    name: sessionCookie(baseUrl),
    cookie: { httpOnly: true, sameSite: 'lax', secure, path: '/', maxAge: SESSION_MS },
    resave: false,
    saveUninitialized: false,
  })
  return (req, res, next) => {
    // We treat an https BASE_URL as proof that TLS terminates upstream.
    if (secure) Object.defineProperty(req, 'secure', { value: true })
    load(req, res, next)
  }
}
