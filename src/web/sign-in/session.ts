import { promisify } from 'node:util'
import type { Request, RequestHandler } from 'express'
import session, { type CookieOptions, type SessionData } from 'express-session'
import manifest from '../../../package.json' with { type: 'json' }
import { SESSION_MS, type SessionStore } from './session-store.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Ends the current session and begins a session with a new id. Throws `StoreUnavailableError`. */
    beginSession?(data: Partial<SessionData> & Pick<SessionData, 'user'>): Promise<void>
    /**
     * Deletes the session with its data, and its cookie. `everywhere`: also ends all other sessions of the user. Throws
     * `StoreUnavailableError`.
     */
    endSession?(options: { everywhere: boolean }): Promise<void>
  }
}

export interface SessionOptions {
  store: SessionStore
  /** Secrets for cookies: the first secret signs, all secrets verify. */
  secrets: string[]
  baseUrl: string
  /** Deletes the data that belongs to the session of a request. */
  forgetSession(req: Request): Promise<void>
}

/**
 * The name of the session cookie. It contains the product's name from package.json and the port of `baseUrl`. Cookies ignore ports,
 * so two products on one host would otherwise sign out each other's users.
 */
export function sessionCookie(baseUrl: string): string {
  const { protocol, port } = new URL(baseUrl)
  const name = manifest.name.replace(/[^\w-]+/g, '-') + (port && `-${port}`)
  // Browsers accept the __Host- prefix only with Secure, Path=/ and no Domain.
  return protocol === 'https:' ? `__Host-${name}` : name
}

/** Sessions with an HttpOnly cookie. It is SameSite=Lax, because the platform redirects back here, and Secure with https. */
export function sessions({ store, secrets, baseUrl, forgetSession }: SessionOptions): RequestHandler {
  const secure = baseUrl.startsWith('https:')
  const name = sessionCookie(baseUrl)
  const cookie = { httpOnly: true, sameSite: 'lax', secure, path: '/' } satisfies CookieOptions
  const load = session({
    store,
    secret: secrets,
    name,
    cookie: { ...cookie, maxAge: SESSION_MS },
    resave: false,
    saveUninitialized: false,
  })
  return (req, res, next) => {
    // We treat an https BASE_URL as proof that TLS terminates upstream.
    if (secure) Object.defineProperty(req, 'secure', { value: true })
    req.beginSession = async (data) => {
      await promisify(req.session.regenerate).call(req.session)
      Object.assign(req.session, data, { endsAt: Date.now() + SESSION_MS })
      // Save before the response, because the next request may arrive immediately, and a failure must not look like success.
      const save = () => promisify(req.session.save).call(req.session)
      await store.begin(req.sessionID, data.user.id, save)
    }
    req.endSession = async ({ everywhere }) => {
      const { user } = req.session
      if (everywhere && user) await store.endAll(user.id)
      await forgetSession(req)
      await promisify(req.session.destroy).call(req.session)
      res.clearCookie(name, cookie)
    }
    let isLoaded = false
    load(req, res, (error) => {
      // If the session can't be saved at the end of the answer, this callback runs again, but it is too late for error handlers.
      if (isLoaded && error?.code === 'unauthenticated')
        return req.log.info('the user signed out before the session could be saved')
      if (isLoaded) return req.log.error({ reason: error?.reason ?? error?.name }, 'a session was not saved')
      isLoaded = true
      next(error)
    })
  }
}
