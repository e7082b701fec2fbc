/** `npm run live-pricing`: Interface A alone, for a supplier that needs nothing else of the app. */
import '../../runtime/env-file.ts'
import { createLivePricingApp } from '../../app.ts'
import { createLog } from '../../runtime/log.ts'
import { configOf } from '../../runtime/run-app.ts'
import { fail, GRACE_MS, listen, onStopSignal } from '../../runtime/serve.ts'
import { livePricingBases } from '../../services.ts'

try {
  const config = configOf(process.env, { livePricingOnly: true })
  const log = createLog(config.logLevel)
  const livePricing = livePricingBases(config, log)
  const app = createLivePricingApp({ config, log, livePricing })
  const server = await listen(app, { port: config.port, host: config.host, variable: 'PORT' })
  for (const { baseUrl } of livePricing) log.info({ url: baseUrl }, 'live pricing')
  onStopSignal(async () => {
    await server.stop(GRACE_MS)
    for (const { book } of livePricing) book.close()
  })
} catch (error) {
  fail(error)
}
