import { Router } from 'express'
import { connectableBusiness } from './accounts.ts'
import type { Consent } from './consents.ts'
import type { SandboxState } from './feature.ts'
import { loginUrl } from './login.ts'
import { leaveNotice, page, problem } from './pages.ts'

/** The page that lists the applications with access. Users revoke all grants of an application for a business at once. */
export function connectedAppsRoutes({ apps, scopes, consents }: SandboxState): Router {
  return Router()
    .get('/connected-apps', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req.originalUrl))
      const list = newestOfEach(consents.list(account.id)).map(({ consent, times }) => ({
        ...consent,
        times,
        app: apps.find(({ clientId }) => clientId === consent.client)?.name ?? consent.client,
        business: connectableBusiness(account, consent.bxcontext)?.name ?? consent.bxcontext,
        permissions: consent.scopes.map((scope) => scopes[scope] ?? scope),
      }))
      return page(res, 'connected-apps', { title: 'Connected apps', account, consents: list })
    })
    .post('/connected-apps/:grantId/revoke', (req, res) => {
      const account = req.account
      const consent = consents.find(req.params.grantId)
      if (!account || consent?.account !== account.id) {
        return problem(res, 404, 'There is no such connected app in this account.', account)
      }
      for (const granted of consents.list(account.id))
        if (isSame(granted, consent)) consents.revoke(granted.grantId)
      const business = connectableBusiness(account, consent.bxcontext)?.name ?? consent.bxcontext
      leaveNotice(
        res,
        `Revoked the access to ${business}. At its next call, the app notices this and shows that access has ended.`,
      )
      return res.redirect(303, '/connected-apps')
    })
}

/** Whether two consents appear as a single entry, because they have the same application and business. */
const isSame = (one: Consent, other: Consent) =>
  one.client === other.client && one.bxcontext === other.bxcontext

/** The newest consent for each application and business, and how many consents there are. */
function newestOfEach(consents: Consent[]): { consent: Consent; times: number }[] {
  return consents
    .filter((consent, index) => consents.findIndex((other) => isSame(consent, other)) === index)
    .map((consent) => ({ consent, times: consents.filter((other) => isSame(consent, other)).length }))
}
