import express, { type Express } from 'express'
import type { Config } from '../config.ts'
import { redirectUrls } from '../connect/authorization/routes.ts'
import { csrfProtection } from '../web/cross-site.ts'
import { errorHandler, notFound } from '../web/errors.ts'
import { assets, pages } from '../web/pages.ts'
import { securityHeaders } from '../web/security-headers.ts'
import type { ProbeRun } from './probe.ts'

const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')

export interface ProbeServerOptions {
  config: Config
  run: ProbeRun
  /** Called when the checks have ended, each time. */
  onChecked(): Promise<void>
}

/** The pages of a probe, at the app's own addresses: only those are registered with the platform. */
export function createProbeServer({ config, run, onChecked }: ProbeServerOptions): Express {
  const { baseUrl, platform } = config
  const app = express()
  app.disable('x-powered-by')
  let failure: string | undefined
  let isChecked = false
  let isRevoked = false
  app.use(pages(config))
  app.use(securityHeaders({ baseUrl, formTargets: [platform.appUrl, platform.authUrl] }))
  app.use('/assets', assets)

  app.get('/', (_req, res) => {
    const results = isChecked ? run.results() : []
    const { consents, deliveries } = run
    res.page('app/probe', {
      title: 'Probe the platform',
      consents,
      deliveries: deliveries.length,
      failure,
      results,
      isRevoked,
    })
  })
  // The platform's webhooks come without a browser: record them before the check of the origin.
  app.post(/.*/, (req, res, next) => {
    if (['/start', '/check', '/check-revoked'].includes(req.path)) return next()
    void recordDelivery(run, req, res)
  })
  app.use(csrfProtection(baseUrl))
  app.post('/start', (_req, res) => res.redirect(303, run.startUrl().href))
  app.get(CONTEXT_PATH, async (req, res) => {
    const { bxcontext } = req.query
    if (typeof bxcontext === 'string') return res.redirect(303, (await run.consentUrl(bxcontext)).href)
    failure = 'The platform returned without a bxcontext.'
    res.redirect(303, '/')
  })
  app.get(CALLBACK_PATH, async (req, res) => {
    failure = await run.callback(new URL(req.originalUrl, baseUrl))
    res.redirect(303, '/')
  })
  app.post('/check', async (_req, res) => {
    await run.check()
    isChecked = true
    isRevoked = run
      .results()
      .some(({ id, status }) => id === 'revoked-refresh-token' && status !== 'not seen')
    await onChecked()
    res.redirect(303, '/')
  })
  app.post('/check-revoked', async (_req, res) => {
    isRevoked = await run.checkRevoked()
    await onChecked()
    res.redirect(303, '/')
  })
  app.use(notFound)
  app.use(errorHandler)
  return app
}

const MAX_BODY_BYTES = 100_000
const MAX_DELIVERIES = 100

async function recordDelivery(
  { deliveries }: ProbeRun,
  req: express.Request,
  res: express.Response,
): Promise<void> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return void res.status(413).end()
    chunks.push(chunk)
  }
  const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)])
  if (deliveries.length < MAX_DELIVERIES)
    deliveries.push({ path: req.path, headers: Object.fromEntries(headers), body: Buffer.concat(chunks) })
  res.status(202).end()
}
