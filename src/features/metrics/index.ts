import { timingSafeEqual } from 'node:crypto'
import type { Server } from 'node:http'
import express, { Router } from 'express'
import type { Feature, FeatureDeps, FeatureParts } from '../../web/feature-api.ts'
import { digest, type MetricsSettings, metricsSettings } from './settings.ts'

/** `GET /metrics` for Prometheus: on a separate port (`METRICS_PORT`), or on the app's port, behind a token (`METRICS_TOKEN`). */
export default {
  title: 'Metrics for Prometheus',
  order: 110,
  needs: ['connection-checks'],
  settings: metricsSettings,
  create: (deps, settings) => (settings ? createParts(deps, settings) : {}),
} satisfies Feature<MetricsSettings>

/** Resolves once the metrics are subscribed, so that they record everything that the app does after its start. */
async function createParts(deps: FeatureDeps, settings: NonNullable<MetricsSettings>): Promise<FeatureParts> {
  const { port, tokenDigest } = settings
  // Loaded on demand, so that an app without metrics does not load the library.
  const { createMetrics } = await import('./metrics.ts')
  const { contentType, text, close } = await createMetrics(deps)
  const router = Router().get('/', async (req, res) => {
    res.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    const [, token = ''] = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '') ?? []
    if (tokenDigest && !timingSafeEqual(digest(token), tokenDigest))
      return void res.set('WWW-Authenticate', 'Bearer realm="metrics"').sendStatus(401)
    res.set('Content-Type', contentType).send(await text())
  })
  let server: Server | undefined
  return {
    ...(port === undefined && { serverRoutes: [{ path: '/metrics', router }] }),
    start() {
      if (port === undefined) return
      const app = express().disable('x-powered-by').set('env', 'production').use('/metrics', router)
      server = app.listen(port, (error?: NodeJS.ErrnoException) => {
        if (error)
          deps.log.error({ code: error.code, port }, 'METRICS_PORT cannot be opened; there are no metrics')
      })
    },
    async stop() {
      server?.close()
      server?.closeAllConnections()
      close()
    },
  }
}
