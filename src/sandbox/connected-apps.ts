import { Router } from 'express'
import { businessOf } from './accounts.ts'
import type { Database } from './database.ts'
import { type RegisteredApp, SCOPES } from './identity.ts'
import { loginUrl } from './login.ts'
import { page, problem } from './pages.ts'

/** Where a user of the platform sees who has access, and ends it. */
export function connectedAppsRoutes(apps: RegisteredApp[], database: Database): Router {
  return Router()
    .get('/connected-apps', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req))
      const consents = database.consents.list(account.id).map((consent) => ({
        ...consent,
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
      database.consents.remove(consent.grantId)
      return res.redirect(303, '/connected-apps')
    })
}
