import express, { type Express, type Request, type RequestHandler, Router } from 'express'
import { browserSession, connectRoutes, redirectFailedCallback } from './connect/express.ts'
import type { Connection, ConnectionRef } from './connect/index.ts'
import type { Dependencies } from './dependencies.ts'
import type { NamedFeature } from './features/load.ts'
import type { FeatureParts, Part } from './web/feature.ts'
import { connectPageRoute } from './web/pages/connect-page.ts'
import { connectionGuard } from './web/pages/connection-guard.ts'
import {
  type ConnectionLink,
  connectionName,
  connectionsRoutes,
  createConnectPages,
  homeRoute,
} from './web/pages/connections.ts'
import { customerViewRoute, developerPage } from './web/pages/customer-view.ts'
import { assets, pages } from './web/pages/pages.ts'
import { textualPath, unsafeRequests } from './web/requests/csrf.ts'
import { errorHandler, notFound } from './web/requests/error-page.ts'
import { healthRoutes } from './web/requests/health.ts'
import { noteMount, requestLog } from './web/requests/request-log.ts'
import { securityHeaders } from './web/requests/security-headers.ts'
import { OPEN_DEMO } from './web/sign-in/demo-sign-in.ts'
import { sessions } from './web/sign-in/session.ts'
import { requireUser, signedInOnly } from './web/sign-in/user.ts'

/**
 * Returns the links of each feature that needs no scope or has at least one granted scope. If the platform does not report the
 * granted scopes, returns the links of all features.
 */
async function linksOf(
  userId: string,
  { bxcontext, scopes }: Connection,
  features: readonly NamedFeature[],
  parts: readonly FeatureParts[],
): Promise<ConnectionLink[]> {
  const links = features.map(({ scopes: needed = {} }, index) => {
    const names = Object.keys(needed)
    const isGranted = !scopes || names.length === 0 || names.some((name) => scopes.includes(name))
    return isGranted ? (parts[index]?.connectionLinks?.({ userId, bxcontext }) ?? []) : []
  })
  return (await Promise.all(links)).flat()
}

/** A part of the app itself has neither the guard nor pages for developers. */
type Mounted = Pick<Part, 'path' | 'router'> & Partial<Part>
type Parts = Record<'server' | 'open' | 'connections' | 'features' | 'flow' | 'pages', Mounted[]>

/** All parts with routes, in the order in which they are mounted. */
export function partsOf(dependencies: Dependencies): Parts {
  const { config, log, store, connect, signIn, features, parts, closingSignal } = dependencies
  const { baseUrl, platform } = config
  const { vault, api, oauth } = connect
  const ofConnections = {
    vault,
    api,
    requestedScopes: oauth.scopes,
    connectedAppsUrl: platform.connectedAppsUrl,
    linksOf: (userId: string, connection: Connection) => linksOf(userId, connection, features, parts),
    connectionTests: features.flatMap((feature) => feature.connectionTest ?? []),
  }
  const flow = { connect, baseUrl, pages: createConnectPages(vault), log }
  return {
    server: parts.flatMap(({ serverRoutes }) => serverRoutes ?? []),
    open: [{ path: '/health', router: healthRoutes(store, closingSignal) }],
    connections: [{ path: '/connections', router: connectionsRoutes(ofConnections) }],
    features: parts.flatMap(({ routes }) => routes ?? []),
    flow: [{ path: '/connect', router: connectRoutes(flow) }],
    // Parts at `/` come last, because Express tries them for every request.
    pages: [
      { path: '/', router: signIn.routes },
      { path: '/', router: homeRoute(ofConnections) },
      { path: '/', router: connectPageRoute(ofConnections) },
      ...(platform.sandboxUrl ? [{ path: '/customer-view', router: customerViewRoute() }] : []),
    ],
  }
}

/** Mounts each part as one layer, so that a request skips parts at other paths. Adds the guard to the parts that need it. */
function mount(app: Express, parts: readonly Mounted[], guard: RequestHandler<{ bxcontext: string }>): void {
  for (const { path, router, needsConnection, isForDevelopers } of parts) {
    const part = Router({ mergeParams: true }).use(noteMount(path))
    if (isForDevelopers) part.use(developerPage)
    if (needsConnection) part.use<{ bxcontext: string }>(guard)
    app.use(path, part.use(router))
  }
}

/** Creates the Express app: middleware and routes in the order in which requests pass through them. */
export function createApp(dependencies: Dependencies): Express {
  const { config, log, sessionStore, connect, signIn, parts } = dependencies
  const { baseUrl, platform, sessionSecrets: secrets, tokenEncryptionKeys: keys } = config
  const { vault } = connect
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', config.trustProxy)
  const warning = signIn.isDemo && config.demoAllowRemote ? OPEN_DEMO : null
  const shown = {
    environment: config.environment,
    keys,
    baseUrl,
    connectionName: (ref: ConnectionRef) => connectionName(vault, ref),
    warning,
    linksToSignIn: !signIn.isDemo,
    sandboxUrl: platform.sandboxUrl,
    navigation: parts.flatMap((part) => part.navigation ?? []),
    sections: parts.flatMap((part) => part.sections ?? []),
  }
  const mounted = partsOf(dependencies)
  const guard = connectionGuard(vault)
  app.use(requestLog(log), pages(shown), securityHeaders(baseUrl), textualPath)
  // Before the browser middleware, because callers are servers that authenticate with tokens or signatures.
  mount(app, mounted.server, guard)

  app.use('/assets', assets)
  // Browsers request it if a response names no icon, such as JSON.
  app.get('/favicon.ico', (_req, res) => res.redirect('/assets/app.svg'))
  mount(app, mounted.open, guard)
  app.use(unsafeRequests(baseUrl))
  const forgetSession = (req: Request) => connect.flows.forget(browserSession(req, { requireUser }))
  app.use(sessions({ store: sessionStore, secrets, baseUrl, forgetSession }))
  app.use('/connections', signedInOnly)
  // Before the features, because disconnecting, testing and renewing also work on a connection that has ended.
  mount(app, mounted.connections, guard)
  // Before the connect flow, so that a feature can see or hold its requests.
  mount(app, mounted.features, guard)
  mount(app, mounted.flow, guard)
  mount(app, mounted.pages, guard)

  app.use(notFound)
  // Error handlers from here on.
  app.use(redirectFailedCallback(log))
  app.use(errorHandler)
  return app
}
