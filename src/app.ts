import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { connectRoutes, leaveCallback } from './connect/authorization/routes.ts'
import type { Store } from './connect/store/store.ts'
import { builderRequestsRoutes } from './features/builder-requests/routes.ts'
import { webhookRoutes } from './features/builder-requests/webhook.ts'
import { cataloguesRoutes } from './features/catalogues/routes.ts'
import { leadsRoutes } from './features/leads/routes.ts'
import { noSuchEndpoint } from './features/live-pricing/answer-error.ts'
import { livePricingDocs } from './features/live-pricing/docs.ts'
import { livePricing } from './features/live-pricing/router.ts'
import { importsRoutes } from './features/price-files/routes.ts'
import type { Services } from './services.ts'
import { bodyDeadline } from './web/body-deadline.ts'
import { connectionsRoutes, connectPages } from './web/connections.ts'
import { refuseCrossSite } from './web/cross-site.ts'
import { errorHandler, notFound } from './web/errors.ts'
import { healthRoutes } from './web/health.ts'
import { notices } from './web/notice.ts'
import { pages } from './web/pages.ts'
import { requestLog } from './web/request-log.ts'
import { securityHeaders } from './web/security-headers.ts'
import { sessions } from './web/session.ts'
import { signInRoutes } from './web/sign-in.ts'

const assets = fileURLToPath(new URL('../views/public', import.meta.url))

type Front = Pick<Services, 'config' | 'log' | 'livePricing'>

/** Middleware shared by every route: request log, live pricing, security headers, public files, health. */
function createFront({ config, log, livePricing: bases }: Front, store: Pick<Store, 'ping'>): Express {
  const { baseUrl, platform, proxies } = config
  const formTargets = [platform.appUrl, platform.authUrl].filter(Boolean)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', proxies)

  app.use(requestLog(log))
  // Mounted before the browser middleware: callers are servers that authenticate with bearer tokens.
  for (const { path, ...base } of bases) {
    const { rateLimit } = config.livePricing
    app.use(path, bodyDeadline(), livePricing({ ...base, keys: config.tokenKeys, rateLimit, log }))
  }
  app.use(bodyDeadline())
  app.use(securityHeaders({ baseUrl, formTargets }))
  app.use(
    '/assets',
    express.static(assets, { setHeaders: (res) => res.setHeader('Cache-Control', 'public, max-age=300') }),
  )
  app.use(healthRoutes(store))

  app.use(pages(config))
  for (const { path, baseUrl: at } of bases) app.use(path, livePricingDocs(at), noSuchEndpoint)
  return app
}

/** Live pricing alone, for a supplier that needs nothing else. It is ready when every base has prices. */
export function createLivePricingApp(front: Front): Express {
  const app = createFront(front, {
    async ping() {
      if (!front.livePricing.every(({ book }) => book.loaded())) throw new Error('there is no price list')
    },
  })
  app.use(notFound)
  app.use(errorHandler)
  return app
}

/** The whole app, in the order in which a request meets it. */
export function createApp(services: Services): Express {
  const { config, log, store, sessionStore, oauth, vault, authorizationRequests, stopping } = services
  const { leads, catalogues, accessControls, builderRequests, imports, events, pending } = services
  const { baseUrl } = config
  const app = createFront(services, store)

  // Mounted before the sessions and the cross-site check: requests come from a server and are authenticated by signature.
  app.use(webhookRoutes({ ...config.webhook, events, pending, usersOf: vault.usersOf, log }))
  app.use(refuseCrossSite(baseUrl))
  // Bodies first: a form whose session cannot be read comes back with what was typed.
  app.use(express.urlencoded({ extended: false, limit: '64kb' }), express.json({ limit: '64kb' }))
  app.use(sessions({ store: sessionStore, secrets: config.sessionSecrets, baseUrl }), notices(store))

  app.use(signInRoutes({ wanted: oauth.scopes }))
  app.use(connectRoutes({ authorizationRequests, oauth, vault, baseUrl, pages: connectPages, log }))
  app.use(connectionsRoutes({ vault, wanted: oauth.scopes }))
  app.use(leadsRoutes({ leads, vault }))
  app.use(cataloguesRoutes({ catalogues, accessControls, imports, pending, vault }))
  app.use(importsRoutes({ imports, catalogues, vault, stopping }))
  const webhook = config.webhook.secrets.length > 0
  app.use(builderRequestsRoutes({ builderRequests, pending, events, vault, webhook, stopping }))

  app.use(notFound)
  app.use(leaveCallback)
  app.use(errorHandler)
  return app
}
