import express, { type Express, type Request } from 'express'
import { browserSession, connectRoutes, type OnHop, redirectFailedCallback } from './connect/express.ts'
import type { Connection, ConnectionRef } from './connect/index.ts'
import type { Dependencies } from './dependencies.ts'
import type { NamedFeature } from './features/load.ts'
import { bodyDeadline } from './web/body-deadline.ts'
import { byPath } from './web/by-path.ts'
import {
  type ConnectionLink,
  connectionName,
  connectionsRoutes,
  createConnectPages,
  homeRoute,
} from './web/connections.ts'
import { unsafeRequests } from './web/cross-site.ts'
import { customerViewRoute } from './web/customer-view.ts'
import { OPEN_DEMO } from './web/demo-sign-in.ts'
import { drafts } from './web/drafts.ts'
import { errorHandler, notFound } from './web/errors.ts'
import type { FeatureParts } from './web/feature.ts'
import { healthRoutes } from './web/health.ts'
import { notices, waitingNotices } from './web/notice.ts'
import { openApiRoute } from './web/openapi.ts'
import { assets, pages } from './web/pages.ts'
import { requestLog } from './web/request-log.ts'
import { securityHeaders } from './web/security-headers.ts'
import { sessions } from './web/session.ts'
import { signedInOnly } from './web/user.ts'

/** The links of the features whose permission was granted, as far as the platform reports it: a builder sees no supplier's. */
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

/** Creates the Express app: middleware and routes in the order in which requests pass through them. */
export function createApp({
  config,
  log,
  store,
  sessionStore,
  connect,
  signIn,
  features,
  parts,
  drainSignal,
  deps: { sendChanges },
}: Dependencies): Express {
  const { baseUrl, platform, sessionSecrets: secrets, tokenEncryptionKeys: keys } = config
  const { vault, oauth, api } = connect
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', config.trustProxy)
  const warning = signIn.isDemo && config.demoAllowRemote ? OPEN_DEMO : null
  const shown = {
    environment: config.environment,
    connectionName: (ref: ConnectionRef) => connectionName(vault, ref),
    warning,
    linksToSignIn: !signIn.isDemo,
    sandboxUrl: platform.sandboxUrl,
    navigation: parts.flatMap((part) => part.navigation ?? []),
    sections: parts.flatMap((part) => part.sections ?? []),
  }
  const onHop: OnHop = async (event) => {
    let { target } = event
    for (const part of parts) target = (await part.onHop?.({ ...event, target })) ?? target
    return target
  }
  const ofConnections = {
    vault,
    api,
    requestedScopes: oauth.scopes,
    connectedAppsUrl: platform.connectedAppsUrl,
    sendChanges,
    waitingNotices: (userId: string) => waitingNotices(store, userId),
    linksOf: (userId: string, connection: Connection) => linksOf(userId, connection, features, parts),
    reasonFor: (scope: string) => features.flatMap(({ scopes }) => scopes?.[scope] ?? []).join('; '),
    connectionTests: features.flatMap((feature) => feature.connectionTest ?? []),
  }
  app.use(requestLog(log), bodyDeadline(), notices(store, keys, baseUrl), drafts(keys, baseUrl), pages(shown))
  // Mounted before the browser middleware: callers are servers that authenticate with tokens or signatures.
  app.use(byPath(parts.flatMap(({ serverRoutes }) => serverRoutes ?? [])))

  app.use(securityHeaders(baseUrl))
  app.use('/assets', assets)
  app.use(byPath([healthRoutes(store, drainSignal), openApiRoute(baseUrl)]))
  app.use(unsafeRequests(baseUrl))
  const connectPages = createConnectPages(vault)
  const forgetSession = (req: Request) => connect.flows.forget(browserSession(req, connectPages))
  app.use(sessions({ store: sessionStore, secrets, baseUrl, forgetSession }))
  app.use('/connections', signedInOnly)
  app.use(
    byPath([
      signIn.routes,
      ...(platform.sandboxUrl ? [customerViewRoute()] : []),
      connectRoutes({ connect, baseUrl, pages: connectPages, onHop, log }),
      homeRoute(ofConnections),
      connectionsRoutes(ofConnections),
      ...parts.flatMap(({ routes }) => routes ?? []),
    ]),
  )

  app.use(notFound)
  // Error handlers from here on.
  app.use(redirectFailedCallback(log))
  app.use(errorHandler)
  return app
}
