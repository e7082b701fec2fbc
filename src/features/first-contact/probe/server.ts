import { randomBytes } from 'node:crypto'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import type { Config } from '../../../config.ts'
import { platform, redirectUrls } from '../../../connect/index.ts'
import { csrfProtection } from '../../../web/cross-site.ts'
import { errorHandler, notFound } from '../../../web/errors.ts'
import { assets, pages } from '../../../web/pages.ts'
import { sendOnward } from '../../../web/respond.ts'
import { securityHeaders } from '../../../web/security-headers.ts'
import { texts } from '../../../web/texts.ts'
import type { ProbeRun } from './probe.ts'

const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const ACTIONS = ['/start', '/check', '/check-revoked']
const COOKIE = 'connect_probe'

export interface ProbeServerOptions {
  config: Config
  run: ProbeRun
  /** Called when the checks have ended, each time. */
  onChecked(): Promise<void>
}

/** The pages of a probe, at the app's own addresses: only those are registered with the platform. */
export function createProbeServer({ config, run, onChecked }: ProbeServerOptions): Express {
  const { baseUrl } = config
  const app = express()
  app.disable('x-powered-by')
  let failure: string | undefined
  let working: Promise<void> | undefined
  const sameBrowser = browserCheck(baseUrl)
  /** Runs one at a time: whoever presses a button twice waits for the first. */
  const once = async (work: () => Promise<void>) => {
    working ??= work()
      .then(onChecked)
      .finally(() => {
        working = undefined
      })
    await working
  }

  app.use(pages(config))
  app.use(securityHeaders(baseUrl))
  app.use('/assets', assets)
  app.post(/.*/, (req, res, next) => (ACTIONS.includes(req.path) ? next() : recordRequest(run, req, res)))
  app.use(csrfProtection(baseUrl))
  app.get('/', (_req, res) => {
    const { consents, received, isConsentAlive } = run
    const results = run.results()
    const hasResults = results.some(({ status }) => status !== 'not seen' && status !== 'not checked')
    res.page('first-contact/probe', {
      title: 'Probe the platform',
      consents,
      received: received.length,
      failure,
      results: hasResults && consents === 0 ? results : [],
      isConsentAlive,
    })
  })
  app.post('/start', sameBrowser.remember, (req, res) =>
    sendOnward(req, res, run.startUrl().href, texts.toPlatform),
  )
  app.get(CONTEXT_PATH, sameBrowser.check, async (req, res) => {
    const bxcontext = req.query[platform.startPage.bxcontext]
    const url = typeof bxcontext === 'string' ? await run.consentUrl(bxcontext) : undefined
    if (!url) failure = 'The platform returned without a bxcontext, or no consent was started here.'
    res.redirect(303, url?.href ?? '/')
  })
  app.get(CALLBACK_PATH, sameBrowser.check, async (req, res) => {
    failure = await run.callback(new URL(req.originalUrl, baseUrl))
    res.redirect(303, '/')
  })
  app.post('/check', sameBrowser.check, async (_req, res) => {
    if (run.consents > 0) await once(run.check)
    res.redirect(303, '/')
  })
  app.post('/check-revoked', sameBrowser.check, async (_req, res) => {
    if (run.isConsentAlive) await once(run.checkRevoked)
    res.redirect(303, '/')
  })
  app.use(notFound)
  app.use(errorHandler)
  return app
}

/**
 * A consent that starts in one browser ends in the same one: otherwise anybody who reaches this server could put theirs in
 * its place. Return addresses accept top-level navigations only.
 */
function browserCheck(baseUrl: string): { remember: RequestHandler; check: RequestHandler } {
  const value = randomBytes(16).toString('base64url')
  const isSecure = baseUrl.startsWith('https:')
  return {
    remember(_req, res, next) {
      res.cookie(COOKIE, value, { httpOnly: true, sameSite: 'lax', secure: isSecure })
      next()
    },
    check(req, res, next) {
      const cookies = (req.get('cookie') ?? '').split(/;\s*/)
      const destination = req.get('sec-fetch-dest') ?? 'document'
      if (cookies.includes(`${COOKIE}=${value}`) && destination === 'document') return next()
      res.status(400).type('text').send(`Open ${baseUrl} in this browser, and give consent there.\n`)
    },
  }
}

const MAX_BODY_BYTES = 100_000
const MAX_RECEIVED = 100

/** Keeps a request of the platform, such as a webhook. Browsers send none. */
async function recordRequest({ received }: ProbeRun, req: Request, res: Response): Promise<void> {
  if (req.get('sec-fetch-site') || req.get('origin')) return void res.status(403).end()
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of req) {
      size += chunk.length
      if (size > MAX_BODY_BYTES) return void res.status(413).end()
      chunks.push(chunk)
    }
  } catch {
    // The sender gave up.
    return
  }
  const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)])
  received.push({ path: req.path, headers: Object.fromEntries(headers), body: Buffer.concat(chunks) })
  if (received.length > MAX_RECEIVED) received.shift()
  res.status(202).end()
}
