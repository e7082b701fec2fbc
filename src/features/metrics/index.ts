import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Router } from 'express'
import type { Feature, FeatureDeps, FeatureParts } from '../feature.ts'
import { loadTools } from '../load.ts'
import type { GaugesTool } from '../tools.ts'
import type { Metrics } from './metrics.ts'
import { digest, type MetricsSettings, metricsSettings } from './settings.ts'

/** `GET /metrics` for Prometheus: on a separate port (`METRICS_PORT`), or on the app's behind a token (`METRICS_TOKEN`). */
export default {
  title: 'Metrics',
  order: 110,
  settings: metricsSettings,
  create: (deps, settings) => (settings ? createParts(deps, settings) : {}),
} satisfies Feature<MetricsSettings>

function createParts(deps: FeatureDeps, { port, tokenDigest }: NonNullable<MetricsSettings>): FeatureParts {
  // Loaded on demand: without metrics, the library costs nothing.
  const collected = import('./metrics.ts').then(async ({ createMetrics }) =>
    createMetrics(deps, await loadTools<GaugesTool>('gauges.ts')),
  )
  const answer = (req: IncomingMessage, res: ServerResponse) =>
    respond(req, res, collected, tokenDigest).catch(() => {
      if (!res.headersSent) res.writeHead(500).end()
    })
  // Not imported: see src/runtime/serve.ts.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = port === undefined ? undefined : createServer(answer)
  return {
    ...(server ? {} : { serverRoutes: Router().get('/metrics', answer) }),
    start: () => server && listen(server, port, deps),
    async stop() {
      server?.close()
      server?.closeAllConnections()
      const { close } = await collected
      close()
    },
  }
}

function listen(server: Server, port: number | undefined, { log }: FeatureDeps): void {
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    log.error({ code, port }, 'METRICS_PORT cannot be opened; there are no metrics'),
  )
  server.listen(port)
}

async function respond(
  { url, headers }: IncomingMessage,
  res: ServerResponse,
  collected: Promise<Metrics>,
  tokenDigest: Buffer | undefined,
): Promise<void> {
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  if (url?.split('?')[0] !== '/metrics') return void res.writeHead(404).end()
  const [, token = ''] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (tokenDigest && !timingSafeEqual(digest(token), tokenDigest))
    return void res.writeHead(401, { 'WWW-Authenticate': 'Bearer realm="metrics"' }).end()
  const { contentType, text } = await collected
  const body = await text()
  res.setHeader('Content-Type', contentType)
  res.end(body)
}
