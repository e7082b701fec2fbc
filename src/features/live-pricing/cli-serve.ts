/** `npm run feature -- live-pricing serve`: serves only the live pricing API, for suppliers that don't need the rest of the app. */
import '../../runtime/env-file.ts'
import express from 'express'
import { generalSettings, serverSettings, storeSettings } from '../../config.ts'
import { createCommand } from '../../runtime/command.ts'
import { withDevelopmentSecrets } from '../../runtime/dev-secrets.ts'
import { createLog } from '../../runtime/log.ts'
import { fail, GRACE_MS, listen, onStopSignal } from '../../runtime/serve.ts'
import { readSettings } from '../../settings/read.ts'
import { bodyDeadline } from '../../web/body-deadline.ts'
import { errorHandler, notFound } from '../../web/errors.ts'
import { healthRoutes } from '../../web/health.ts'
import { assets, pages } from '../../web/pages.ts'
import { inFrontOf } from '../../web/plain-handler.ts'
import { requestLog } from '../../web/request-log.ts'
import { securityHeaders } from '../../web/security-headers.ts'
import { openBases } from './bases.ts'
import { livePricingRoutes, pricesLoaded } from './routes.ts'
import { requiredLivePricingSettings } from './settings.ts'

createCommand(
  'npm run feature -- live-pricing serve',
  'Serves the live pricing API alone, without the rest of the app.',
).parse()

try {
  const { general, server, store, settings } = readSettings(withDevelopmentSecrets(process.env), {
    general: generalSettings,
    server: serverSettings,
    store: storeSettings,
    settings: requiredLivePricingSettings,
  })
  const { baseUrl } = server
  const log = createLog(general.logLevel)
  const bases = openBases({ baseUrl, dataDir: store.dataDir, settings, log })
  const { trustProxy } = server
  const { rateLimit } = settings
  const keys = store.tokenEncryptionKeys
  const { handlers, docs } = livePricingRoutes({ bases, baseUrl, keys, rateLimit, trustProxy, log })
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', trustProxy)
  app.use(requestLog(log), bodyDeadline(), pages({ production: general.production }))
  app.use(docs)
  app.use(securityHeaders(baseUrl))
  app.use('/assets', assets)
  // Readiness follows production if it is served: missing prices for staging must not take production out of service.
  const [first] = bases
  app.use(healthRoutes({ ping: async () => first && pricesLoaded(first) }))
  app.use(notFound)
  app.use(errorHandler)
  const listening = await listen(inFrontOf(app, handlers), {
    port: server.port,
    host: server.host,
    variable: 'PORT',
  })
  for (const base of bases) log.info({ url: base.baseUrl }, 'live pricing')
  onStopSignal(async () => {
    await listening.stop(GRACE_MS)
    for (const { provider } of bases) provider.close?.()
  })
} catch (error) {
  fail(error)
}
