import { Router } from 'express'
import { businessOf } from './accounts.ts'
import type { RegisteredApp } from './identity.ts'
import { comesBack, loginUrl } from './login.ts'
import { page, problem } from './pages.ts'

/** `oauth2.html` (specification 5.3.2): login, choice of business, and back to the registered url with bxcontext. */
export function startPageRoutes(apps: RegisteredApp[]): Router {
  return Router()
    .get('/oauth2.html', (req, res) => {
      const { redirectUrl } = req.query
      const app = appOf(redirectUrl)
      if (typeof app === 'string') return problem(res, 400, app)
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req))
      const [only, ...others] = account.businesses
      if (only && others.length === 0 && !comesBack(req, res))
        return res.redirect(303, back(String(redirectUrl), only.context))
      return page(res, 'businesses', { title: 'Choose a business', account, app, redirectUrl })
    })
    .post('/oauth2.html', (req, res) => {
      const { redirectUrl, context } = req.body ?? {}
      const app = appOf(redirectUrl)
      if (typeof app === 'string') return problem(res, 400, app)
      const account = req.account
      const business = account && businessOf(account, context)
      if (!business) return problem(res, 400, 'Log in and choose one of your businesses.', account)
      return res.redirect(303, back(String(redirectUrl), business.context))
    })

  /** The registered application of this redirect url, or what is wrong with the url. */
  function appOf(redirectUrl: unknown): RegisteredApp | string {
    if (typeof redirectUrl !== 'string' || !redirectUrl) return 'The address needs one redirectUrl parameter.'
    if (/[?#]/.test(redirectUrl)) {
      return `The redirect url ${redirectUrl} is not plain: it must have no query string and no fragment.`
    }
    const app = apps.find(({ redirectUrls }) => redirectUrls.includes(redirectUrl))
    const registered = apps.flatMap(({ redirectUrls }) => redirectUrls).join(', ')
    return app ?? `The redirect url ${redirectUrl} is not registered. Registered are: ${registered}.`
  }
}

function back(redirectUrl: string, context: string): string {
  return `${redirectUrl}?${new URLSearchParams({ bxcontext: context })}`
}
