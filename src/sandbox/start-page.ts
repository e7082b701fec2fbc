import { Router } from 'express'
import { connectableBusiness } from './accounts.ts'
import type { RegisteredApp } from './feature.ts'
import { loginUrl, wasReturned } from './login.ts'
import { page, problem } from './pages.ts'
import { PLATFORM } from './platform.ts'

const { path: START_PATH, redirectUrl: REDIRECT_URL, bxcontext: BXCONTEXT } = PLATFORM.startPage

/** `oauth2.html` (specification 5.3.2): the login, the choice of a business, and the redirect to the app with bxcontext. */
export function startPageRoutes(apps: readonly RegisteredApp[]): Router {
  return Router()
    .get(START_PATH, (req, res) => {
      const redirectUrl = req.query[REDIRECT_URL]
      const app = appOf(redirectUrl)
      if (typeof app === 'string') return problem(res, 400, app)
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req.originalUrl))
      const [only, ...others] = account.businesses
      if (only && others.length === 0 && !wasReturned(req, res))
        return res.redirect(303, returnUrl(String(redirectUrl), only.bxcontext))
      return page(res, 'businesses', {
        title: 'Choose a business',
        account,
        app,
        redirectUrl,
        startUrl: startUrl(redirectUrl),
      })
    })
    .post(START_PATH, (req, res) => {
      const { redirectUrl, bxcontext } = req.body ?? {}
      const app = appOf(redirectUrl)
      if (typeof app === 'string') return problem(res, 400, app)
      const account = req.account
      const business = account && connectableBusiness(account, bxcontext)
      // If another account has logged in in the meantime, shows its businesses, or else the login page.
      if (!business) return res.redirect(303, startUrl(redirectUrl))
      return res.redirect(303, returnUrl(String(redirectUrl), business.bxcontext))
    })

  /** The application that registered this redirect url, or the reason why it is missing. */
  function appOf(redirectUrl: unknown): RegisteredApp | string {
    if (typeof redirectUrl !== 'string' || !redirectUrl)
      return `The address needs one ${REDIRECT_URL} parameter.`
    if (/[?#]/.test(redirectUrl)) {
      return `The redirect URL ${redirectUrl} is not plain: it must not have a query string or a fragment.`
    }
    const app = apps.find(({ redirectUrls }) => redirectUrls.includes(redirectUrl))
    const registered = apps.flatMap(({ redirectUrls }) => redirectUrls).join(', ')
    return app ?? `The redirect URL ${redirectUrl} is not registered. Registered URLs: ${registered}.`
  }
}

const startUrl = (redirectUrl: unknown) =>
  `${START_PATH}?${new URLSearchParams({ [REDIRECT_URL]: String(redirectUrl) })}`

function returnUrl(redirectUrl: string, bxcontext: string): string {
  return `${redirectUrl}?${new URLSearchParams({ [BXCONTEXT]: bxcontext })}`
}
