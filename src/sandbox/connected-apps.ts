import { Router } from 'express'
import { businessOf } from './accounts.ts'
import type { Consent, Database } from './database.ts'
import { type RegisteredApp, SCOPES } from './identity.ts'
import { loginUrl } from './login.ts'
import { page, problem } from './pages.ts'

/** Where a user of the platform sees which applications have access, and ends it: all their grants at once. */
export function connectedAppsRoutes(apps: RegisteredApp[], database: Database): Router {
  return Router()
    .get('/connected-apps', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req))
      const consents = newestOfEach(database.consents.list(account.id)).map(({ consent, times }) => ({
        ...consent,
        times,
        app: apps.find(({ clientId }) => clientId === consent.client)?.name ?? consent.client,
        business: businessOf(account, consent.context)?.name ?? consent.context,
        words: consent.scopes.map((scope) => SCOPES[scope] ?? scope),
      }))
      return page(res, 'connected-apps', { title: 'Connected apps', account, consents })
    })
    .post('/connected-apps/:grantId/revoke', (req, res) => {
      const account = req.account
      const consent = database.consents.of(req.params.grantId)
      if (!account || consent?.account !== account.id) {
        return problem(res, 404, 'There is no such connected app in this account.', account)
      }
      for (const granted of database.consents.list(account.id))
        if (isSame(granted, consent)) database.consents.remove(granted.grantId)
      return res.redirect(303, '/connected-apps')
    })
}

/** Whether two consents are one to their user: to the same application, for the same business. */
const isSame = (one: Consent, other: Consent) => one.client === other.client && one.context === other.context

/** The newest consent for each application and business, and how many there are. */
function newestOfEach(consents: Consent[]): { consent: Consent; times: number }[] {
  return consents
    .filter((consent, index) => consents.findIndex((other) => isSame(consent, other)) === index)
    .map((consent) => ({ consent, times: consents.filter((other) => isSame(consent, other)).length }))
}
