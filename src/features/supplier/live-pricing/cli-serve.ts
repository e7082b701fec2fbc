/** `npm run feature -- live-pricing serve`: serves only the live pricing API, for suppliers that don't need the rest of the app. */
import '../../../runtime/env-file.ts'
import express from 'express'
import * as z from 'zod'
import { createCommand } from '../../../runtime/command.ts'
import { withDevelopmentSecrets } from '../../../runtime/dev-secrets.ts'
import { createLog } from '../../../runtime/log.ts'
import { fail, GRACE_MS, listen, onStopSignal } from '../../../runtime/serve.ts'
import { generalSettings, serverSettings, storeSettings } from '../../../settings/config.ts'
import { ConfigError, readSettings } from '../../../settings/read.ts'
import { healthRoutes, noteMount, requestLog } from '../../../web/feature-api.ts'
import { errorResponse } from './errors.ts'
import { endpointNotFound, livePricing } from './routes.ts'
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
  const { trustProxy, port, host } = config
  const log = createLog(config.logLevel)
  if (config.settings.clients.length === 0)
    throw new ConfigError(['LIVE_PRICING_CLIENTS is required (id:secret for each client)'])
  const { path, router, url, provider, pricesLoaded, warnOfNone } = livePricing(config, config.settings, log)
  pricesLoaded().catch(warnOfNone)
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', trustProxy)
  app.use(requestLog(log))
  app.use(path, noteMount(path), router)
  app.use('/health', healthRoutes({ ping: pricesLoaded }))
  app.use(endpointNotFound, errorResponse)
  const listening = await listen(app, { port, host, variable: 'PORT' })
  log.info({ url }, 'live pricing')
  onStopSignal(async () => {
    await listening.stop(GRACE_MS)
    provider.close?.()
  })
} catch (error) {
  fail(error)
}
