import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { ACCOUNTS, type Account, accountOf } from './accounts.ts'
import { PROVIDER_COOKIES } from './identity.ts'
import { page } from './pages.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Who is logged in to the sandbox, if anybody. */
    account: Account | undefined
  }
}

const COOKIE = 'platform_login'
/** There while a browser that was sent back with its only business has not come to consent. */
const RETURNED_COOKIE = 'platform_returned'
const RETURNED_MS = 120_000

/**
 * Whether this browser was sent back with its only business and comes again, without having come to consent: the
 * application or its user wants another one. Notes this visit.
 */
export function comesBack(req: Request, res: Response): boolean {
  const before = new RegExp(`\\b${RETURNED_COOKIE}=1`).test(req.get('cookie') ?? '')
  res.cookie(RETURNED_COOKIE, '1', { httpOnly: true, sameSite: 'lax', maxAge: RETURNED_MS })
  return before
}

/** The consent page is shown. */
export function cameToConsent(res: Response): void {
  res.clearCookie(RETURNED_COOKIE)
}

/** Ends the login of this browser, but not what the identity provider has under way in it. */
export function logOut(res: Response): void {
  res.clearCookie(COOKIE)
}

/** The way to the login page and back here. */
export function loginUrl(req: Request): string {
  return `/login?${new URLSearchParams({ next: req.originalUrl })}`
}

/** Reads who is logged in from a signed cookie, which needs no memory and so survives a restart. */
export function readLogin(secret: string): RequestHandler {
  return (req, _res, next) => {
    const [, id = '', signature = ''] =
      new RegExp(`\\b${COOKIE}=(\\w+)\\.([\\w-]+)`).exec(req.get('cookie') ?? '') ?? []
    const [given, right] = [Buffer.from(signature), Buffer.from(sign(secret, id))]
    req.account = given.length === right.length && timingSafeEqual(given, right) ? accountOf(id) : undefined
    next()
  }
}

/** The platform's own login. `askingApp` names the application that sent the browser here, by the address it goes on to. */
export function loginRoutes(secret: string, askingApp: (next: string) => string | undefined): Router {
  return Router()
    .get('/login', (req, res) => {
      const next = local(req.query.next)
      const data = { accounts: ACCOUNTS, next, failed: false, email: '', app: askingApp(next) }
      page(res, 'login', { title: 'Log in', ...data })
    })
    .post('/login', (req, res) => {
      const { email, password } = req.body ?? {}
      const account = ACCOUNTS.find((known) => known.email === email && known.password === password)
      const next = local(req.body?.next)
      if (!account) {
        res.status(401)
        const data = {
          accounts: ACCOUNTS,
          next,
          failed: true,
          email: String(email ?? ''),
          app: askingApp(next),
        }
        return page(res, 'login', { title: 'Log in', ...data })
      }
      forgetProviderSession(res)
      const value = `${account.id}.${sign(secret, account.id)}`
      res.clearCookie(RETURNED_COOKIE)
      res.cookie(COOKIE, value, { httpOnly: true, sameSite: 'lax' }).redirect(303, next)
    })
    .post('/logout', (req, res) => {
      forgetProviderSession(res)
      res.clearCookie(COOKIE).redirect(303, local(req.body?.next))
    })
}

function sign(secret: string, id: string): string {
  return createHmac('sha256', secret).update(id).digest('base64url')
}

/** Without this the identity provider would go on with the account that was logged in before. */
function forgetProviderSession(res: Response): void {
  for (const name of PROVIDER_COOKIES) for (const cookie of [name, `${name}.sig`]) res.clearCookie(cookie)
}

function local(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next) ? next : '/'
}
