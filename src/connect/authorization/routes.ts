import { type RequestHandler, Router } from 'express'
import { noteFlow } from '../context.ts'
import type { Platform } from '../platform/contract.ts'
import { handleCallback, showFailure } from './callback.ts'
import { ConnectError } from './errors.ts'
import { type Consenting, questionOf } from './flows.ts'
import { redirectUrls } from './redirect-urls.ts'
import { browserSession, type ConnectRoutesOptions } from './visit.ts'

/**
 * The routes of the delegated flow in the browser (specification 5.3). Mount them at `/connect`. They start the flow, receive the
 * bxcontext, ask for consent, and exchange the code. The callback redirects to remove the code from the address bar. Mount
 * `redirectFailedCallback` after these routes to do the same for unexpected errors.
 */
export function connectRoutes(options: ConnectRoutesOptions): Router {
  return (
    Router()
      // A visit uses up a flow, so a HEAD request (for example, from an email scanner) must not count as a visit.
      .head('/context', getOnly)
      .head('/callback', getOnly)
      .use(startRoute(options), contextRoute(options), confirmRoutes(options), callbackRoutes(options))
  )
}

const getOnly: RequestHandler = (_req, res) => void res.status(405).set('Allow', 'GET').end()

/** Step 1: the user presses Connect, and the browser goes to the platform's page to choose a business. */
function startRoute(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages } = options
  const { platform, flows, oauth } = connect
  return Router().post('/', async (req, res) => {
    const browser = browserSession(req, pages)
    const value: unknown = req.body?.bxcontext
    const bxcontext = value ? parseBxcontext(value, platform) : undefined
    const { id } = await flows.start(browser, bxcontext)
    noteFlow(id)
    pages.sendRedirectPage(req, res, oauth.startUrl(redirectUrls(baseUrl)[0]).href)
  })
}

/** Step 2: the browser comes back with the business, and goes to the consent page. */
function contextRoute(options: ConnectRoutesOptions): Router {
  const { connect, pages } = options
  const { platform, flows, vault } = connect
  return Router().get('/context', topLevelOnly, async (req, res) => {
    const browser = browserSession(req, pages)
    const bxcontext = parseBxcontext(req.query[platform.startPage.bxcontext], platform)
    const flow = await flows.arrive(browser, bxcontext)
    noteFlow(flow.id)
    if (!(await vault.hasRoom({ userId: browser.userId, bxcontext })))
      throw new ConnectError('too_many_connections', undefined, flow)
    res.redirect(303, flow.phase === 'consenting' ? consentUrl(options, flow) : `/connect/confirm/${flow.id}`)
  })
}

/** The question whether to connect the business that came back instead of the expected one. */
function confirmRoutes(options: ConnectRoutesOptions): Router {
  const { connect, pages } = options
  const { flows } = connect
  return Router()
    .get('/confirm/:id', async (req, res) => {
      const question = questionOf(await flows.read(browserSession(req, pages)), req.params.id)
      noteFlow(question.id)
      await pages.confirmDifferentBusiness(req, res, question)
    })
    .post('/confirm/:id', async (req, res) => {
      const flow = await flows.confirm(browserSession(req, pages), req.params.id)
      noteFlow(flow.id)
      pages.sendRedirectPage(req, res, consentUrl(options, flow))
    })
}

/** Step 3: the browser comes back with the code, which is exchanged once, and goes to the page of the outcome. */
function callbackRoutes(options: ConnectRoutesOptions): Router {
  return Router().get('/callback', topLevelOnly, handleCallback(options)).get('/failed', showFailure(options))
}

/** The address of the consent page for this flow. */
function consentUrl(
  { connect, baseUrl }: ConnectRoutesOptions,
  { bxcontext, state, codeVerifier }: Consenting,
): string {
  const redirectUri = redirectUrls(baseUrl)[1]
  return connect.oauth.authorizationUrl({ bxcontext, state, codeVerifier, redirectUri }).href
}

/** Throws `ConnectError` (`invalid_bxcontext`). */
function parseBxcontext(value: unknown, { bxcontextSchema }: Platform): string {
  const bxcontext = bxcontextSchema.safeParse(value)
  if (!bxcontext.success) throw new ConnectError('invalid_bxcontext')
  return bxcontext.data
}

/**
 * Accepts top-level navigations only. Otherwise an image or a frame on another site, or a prefetch, would use up the flow. Browsers
 * that do not send `Sec-Fetch-Dest` are accepted.
 */
const topLevelOnly: RequestHandler = (req, _res, next) => {
  const destination = req.get('sec-fetch-dest') ?? 'document'
  if (destination !== 'document' || req.get('sec-purpose')?.includes('prefetch'))
    throw new ConnectError('not_a_navigation')
  next()
}
