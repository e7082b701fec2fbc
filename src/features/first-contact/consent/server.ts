import { randomBytes } from 'node:crypto'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { platform, redirectUrls } from '../../../connect/index.ts'
import {
  assets,
  type Config,
  csrfProtection,
  errorHandler,
  notFound,
  pages,
  rawBody,
  securityHeaders,
  sendOnward,
  webTexts as texts,
} from '../../../web/kit.ts'
import type { Consents } from './consents.ts'
import { sectionsOf, summaryOf } from './report.ts'

const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const ACTIONS = ['/start', '/check']
const COOKIE = 'connect_doctor'

export interface ConsentServerOptions {
  config: Config
  consents: Consents
  /** Called each time the checks have ended. */
  onChecked(): Promise<void>
}

/** Serves the page that asks for a consent, at the app's own addresses, because only those are registered with the platform. */
export function createConsentServer({ config, consents, onChecked }: ConsentServerOptions): Express {
  const { baseUrl } = config
  const app = express()
  app.disable('x-powered-by')
  let failure: string | undefined
  const sameBrowser = browserCheck(baseUrl)
  app.use(pages(config))
  app.use(securityHeaders(baseUrl))
  app.use('/assets', assets)
  app.post(/.*/, body, (req, res, next) =>
    ACTIONS.includes(req.path) ? next() : receive(consents, req, res),
  )
  app.use(csrfProtection(baseUrl))
  app.get('/', (_req, res) => {
    const findings = consents.round.comparisons.findings()
    const hasSeen = findings.some(({ status }) => status !== 'not seen' && status !== 'not checked')
    res.page('first-contact/consent', {
      title: 'Check with a consent',
      consents: consents.count,
      received: consents.received.length,
      failure,
      summary: summaryOf(findings),
      sections: hasSeen && consents.count === 0 ? sectionsOf(findings) : [],
      isConsentAlive: consents.round.isAlive,
      styles: ['/assets/first-contact/first-contact.css'],
    })
  })
  app.post('/start', sameBrowser.remember, (req, res) =>
    sendOnward(req, res, consents.startUrl().href, texts.toPlatform),
  )
  app.get(CONTEXT_PATH, sameBrowser.check, (req, res) => {
    const bxcontext = req.query[platform.startPage.bxcontext]
    const url = typeof bxcontext === 'string' ? consents.consentUrl(bxcontext) : undefined
    if (!url) failure = 'The platform returned without a bxcontext, or no consent was started here.'
    res.redirect(303, url?.href ?? '/')
  })
  app.get(CALLBACK_PATH, sameBrowser.check, async (req, res) => {
    failure = await consents.callback(new URL(req.originalUrl, baseUrl))
    res.redirect(303, '/')
  })
  app.post('/check', sameBrowser.check, async (_req, res) => {
    if (await consents.check()) await onChecked()
    res.redirect(303, '/')
  })
  app.use(notFound)
  app.use(errorHandler)
  return app
}

/**
 * A consent must end in the browser in which it started. Otherwise, anybody who reaches this server could put their own consent in
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

const MAX_RECEIVED = 100
/** The body of a request stays as it was sent, because its signature is checked. */
const body = rawBody(100_000)

/** Keeps a request of the platform, such as a webhook. Refuses requests of browsers, which name the site that they come from. */
function receive({ received }: Consents, req: Request, res: Response): void {
  if (req.get('sec-fetch-site') || req.get('origin')) return void res.status(403).end()
  const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)])
  received.push({ path: req.path, headers: Object.fromEntries(headers), body: req.body })
  if (received.length > MAX_RECEIVED) received.shift()
  res.status(202).end()
}
