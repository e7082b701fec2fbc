import { type Request, Router } from 'express'
import { ACCOUNTS, type Account, accountOf } from './accounts.ts'
import { PROVIDER_COOKIES } from './identity.ts'
import { page } from './pages.ts'

declare module 'express-session' {
  interface SessionData {
    account: string
  }
}

/** Who is logged in to the sandbox, if anybody. */
export function loggedIn(req: Request): Account | undefined {
  return accountOf(req.session.account)
}

/** The way to the login page and back here. */
export function loginUrl(req: Request): string {
  return `/login?${new URLSearchParams({ next: req.originalUrl })}`
}

/** The platform's own login. */
export function loginRoutes(): Router {
  return Router()
    .get('/login', (req, res) => {
      page(res, 'login', { title: 'Log in', accounts: ACCOUNTS, next: local(req.query.next), failed: false })
    })
    .post('/login', (req, res) => {
      const { email, password } = req.body ?? {}
      const account = ACCOUNTS.find((known) => known.email === email && known.password === password)
      const next = local(req.body?.next)
      if (!account) {
        res.status(401)
        return page(res, 'login', { title: 'Log in', accounts: ACCOUNTS, next, failed: true })
      }
      forgetProviderSession(res)
      req.session.regenerate(() => {
        req.session.account = account.id
        res.redirect(303, next)
      })
    })
    .post('/logout', (req, res) => {
      forgetProviderSession(res)
      req.session.regenerate(() => res.redirect(303, local(req.body?.next)))
    })
}

/** Without this the identity provider would go on with the account that was logged in before. */
function forgetProviderSession(res: import('express').Response): void {
  for (const name of PROVIDER_COOKIES) for (const cookie of [name, `${name}.sig`]) res.clearCookie(cookie)
}

function local(next: unknown): string {
  return typeof next === 'string' && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next) ? next : '/'
}
