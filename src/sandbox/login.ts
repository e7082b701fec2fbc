import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { ACCOUNTS, type Account, findAccount } from './accounts.ts'
import { PROVIDER_COOKIES } from './identity.ts'
import { page } from './pages.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** The account that is logged in to the sandbox, if any. */
    account: Account | undefined
  }
}

/** The cookie's name includes the port, because cookies ignore ports: two sandboxes on a host would log out each other's users. */
const cookieOf = ({ socket }: Request) => `platform_login_${socket.localPort}`
/** Set when a browser is sent back with the account's only business, and cleared when the consent page is shown. */
const RETURNED_COOKIE = 'platform_returned'
const RETURNED_MS = 120_000

/**
 * Whether the platform has just redirected this browser back to the app with the account's only business, and the browser came here
 * again instead of opening the consent page. That means that the application or its user wants another business. Records this
 * visit.
 */
export function wasReturned(req: Request, res: Response): boolean {
  const before = new RegExp(`\\b${RETURNED_COOKIE}=1`).test(req.get('cookie') ?? '')
  res.cookie(RETURNED_COOKIE, '1', { httpOnly: true, sameSite: 'lax', maxAge: RETURNED_MS })
  return before
}

/** Records that the consent page was shown. */
export function reachedConsent(res: Response): void {
  res.clearCookie(RETURNED_COOKIE)
}

/** Logs this browser out without interrupting the identity provider's current interaction. */
export function logOut(res: Response): void {
  res.clearCookie(cookieOf(res.req))
}

/** The login page, which leads to `next`. */
export function loginUrl(next: string): string {
  return `/login?${new URLSearchParams({ next })}`
}

/** Reads who is logged in from a signed cookie, which survives a restart. */
export function readLogin(secret: () => string): RequestHandler {
  return (req, _res, next) => {
    const [, id = '', signature = ''] =
      new RegExp(`\\b${cookieOf(req)}=(\\w+)\\.([\\w-]+)`).exec(req.get('cookie') ?? '') ?? []
    const [given, expected] = [Buffer.from(signature), Buffer.from(sign(secret(), id))]
    req.account =
      given.length === expected.length && timingSafeEqual(given, expected) ? findAccount(id) : undefined
    next()
  }
}

/** The platform's own login. `requestingApp` finds the application that sent the browser, from the address after the login. */
export function loginRoutes(
  secret: () => string,
  requestingApp: (next: string) => string | undefined,
): Router {
  const showLogin = (res: Response, next: string, form: { failed: boolean; email: string }) =>
    page(res, 'login', { title: 'Log in', accounts: ACCOUNTS, next, app: requestingApp(next), ...form })

  return Router()
    .get('/login', (req, res) => {
      showLogin(res, localPath(req.query.next), { failed: false, email: '' })
    })
    .post('/login', (req, res) => {
      const { email, password } = req.body ?? {}
      const account = ACCOUNTS.find((known) => known.email === email && known.password === password)
      const next = localPath(req.body?.next)
      if (!account) {
        res.status(401)
        return showLogin(res, next, { failed: true, email: String(email ?? '') })
      }
      forgetProviderSession(res)
      const value = `${account.id}.${sign(secret(), account.id)}`
      res.clearCookie(RETURNED_COOKIE)
      res.cookie(cookieOf(req), value, { httpOnly: true, sameSite: 'lax' }).redirect(303, next)
    })
    .post('/logout', (req, res) => {
      forgetProviderSession(res)
      res.clearCookie(cookieOf(req)).redirect(303, localPath(req.body?.next))
    })
}

function sign(secret: string, id: string): string {
  return createHmac('sha256', secret).update(id).digest('base64url')
}

/** Ends the session at the identity provider, which would otherwise keep using the previous account. */
function forgetProviderSession(res: Response): void {
  for (const name of PROVIDER_COOKIES) for (const cookie of [name, `${name}.sig`]) res.clearCookie(cookie)
}

/** The path to go to after the login: never another site's. */
function localPath(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next) ? next : '/'
}
