import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { connectRoutes } from './connect/routes.ts'
import type { Services } from './services.ts'
import { cataloguesRoutes } from './web/catalogues.ts'
import { connectionsRoutes } from './web/connections.ts'
import { refuseCrossSite } from './web/cross-site.ts'
import { errorHandler, notFound } from './web/errors.ts'
import { healthRoutes } from './web/health.ts'
import { leadsRoutes } from './web/leads.ts'
import { pages } from './web/pages.ts'
import { requestLog } from './web/request-log.ts'
import { securityHeaders } from './web/security-headers.ts'
import { sessions } from './web/session.ts'
import { requireUser, signInRoutes } from './web/sign-in.ts'

const assets = fileURLToPath(new URL('../views/public', import.meta.url))

/** The whole app, in the order in which a request meets it. */
export function createApp({
  config,
  log,
  store,
  sessionStore,
  oauth,
  vault,
  attempts,
  leads,
  catalogues,
}: Services): Express {
  const { baseUrl, production, platform } = config
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')

  app.use(requestLog(log))
  app.use(securityHeaders({ baseUrl, formTargets: [platform.appUrl, platform.authUrl] }))
  app.use(
    '/assets',
    express.static(assets, { setHeaders: (res) => res.setHeader('Cache-Control', 'public, max-age=300') }),
  )
  app.use(healthRoutes(store))

  app.use(pages(production))
  app.use(refuseCrossSite(baseUrl))
  app.use(sessions({ store: sessionStore, secrets: config.sessionSecrets, baseUrl }))
  app.use(express.urlencoded({ extended: false, limit: '64kb' }), express.json({ limit: '64kb' }))

  app.use(signInRoutes())
  app.use(connectRoutes({ attempts, oauth, vault, baseUrl, requireUser, log }))
  app.use(connectionsRoutes({ vault, wanted: oauth.scopes }))
  app.use(leadsRoutes({ leads, vault }))
  app.use(cataloguesRoutes({ catalogues, vault }))

  app.use(notFound)
  app.use(errorHandler)
  return app
}
