/** `npm run feature -- live-pricing serve`: serves only the live pricing API, for suppliers that don't need the rest of the app. */
import '../../../runtime/env-file.ts'
import express from 'express'
import * as z from 'zod'
import { generalSettings, serverSettings, storeSettings } from '../../../config.ts'
import { createCommand } from '../../../runtime/command.ts'
import { withDevelopmentSecrets } from '../../../runtime/dev-secrets.ts'
import { createLog } from '../../../runtime/log.ts'
import { fail, GRACE_MS, listen, onStopSignal } from '../../../runtime/serve.ts'
import { ConfigError, readSettings } from '../../../settings/read.ts'
import {
  assets,
  bodyDeadline,
  errorHandler,
  healthRoutes,
  noteMount,
  notFound,
  pages,
  requestLog,
  securityHeaders,
} from '../../../web/kit.ts'
import { livePricingBases } from './routes.ts'
import { livePricingSettings } from './settings.ts'

createCommand(
  'npm run feature -- live-pricing serve',
  'Serves the live pricing API alone, without the rest of the app.',
).parse()

try {
  const config = readSettings(withDevelopmentSecrets(process.env), (env) =>
    z.object({
      ...generalSettings().shape,
      ...serverSettings(env).shape,
      ...storeSettings(env).shape,
      settings: livePricingSettings(env),
    }),
  )
  const { baseUrl, trustProxy, port, host } = config
  const log = createLog(config.logLevel)
  const bases = livePricingBases(config, config.settings, log)
  if (bases.length === 0)
    throw new ConfigError(['LIVE_PRICING_CLIENTS is required (id:secret for each client)'])
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', trustProxy)
  app.use(requestLog(log), bodyDeadline(), pages(config))
  for (const { path, router } of bases) app.use(path, noteMount(path), router)
  app.use(securityHeaders(baseUrl))
  app.use('/assets', assets)
  // Readiness follows production if it is served: missing prices for staging must not take production out of service.
  app.use('/health', healthRoutes({ ping: async () => bases[0]?.pricesLoaded() }))
  app.use(notFound)
  app.use(errorHandler)
  const listening = await listen(app, { port, host, variable: 'PORT', log })
  for (const { url } of bases) log.info({ url }, 'live pricing')
  onStopSignal(async () => {
    await listening.stop(GRACE_MS)
    for (const { provider } of bases) provider.close?.()
  })
} catch (error) {
  fail(error)
}
