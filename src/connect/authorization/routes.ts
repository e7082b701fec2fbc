import { type RequestHandler, Router } from 'express'
import { noteFlow } from '../context.ts'
import type { Platform } from '../platform/contract.ts'
import { handleCallback, showFailure } from './callback.ts'
import { ConnectError } from './errors.ts'
import { type Consenting, questionOf } from './flows.ts'
import { redirectUrls } from './redirect-urls.ts'
import { arrival, browserSession, type ConnectRoutesOptions, type Onward } from './visit.ts'

/**
 * The routes of the delegated flow in the browser (specification 5.3), to be mounted at `/connect`. They start the flow, receive
 * the bxcontext, ask for consent, and exchange the code. The callback redirects, so that the code leaves the address bar. Mount
 * `redirectFailedCallback` after these routes: it does the same for unexpected errors.
 */
export function connectRoutes(options: ConnectRoutesOptions): Router {
  return (
    Router()
      // A visit uses up a flow, so a HEAD request (for example, of a mail scanner) must not count as a visit.
      .head('/context', getOnly)
      .head('/callback', getOnly)
      .use(startRoute(options), contextRoute(options), confirmRoutes(options), callbackRoutes(options))
  )
}

const getOnly: RequestHandler = (_req, res) => void res.status(405).set('Allow', 'GET').end()

/** Step 1: the user presses Connect, and goes to the platform to choose a business. */
function startRoute(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages } = options
  const { platform, flows, oauth } = connect
  return Router().post('/', async (req, res) => {
    const { browser, hop } = arrival(options, req)
    const value: unknown = req.body?.bxcontext
    const bxcontext = value ? parseBxcontext(value, platform) : undefined
    const { id } = await flows.start(browser, bxcontext)
    const target = oauth.startUrl(redirectUrls(baseUrl)[0]).href
    pages.goOn(req, res, await hop({ hop: 'start', target, status: 200, flow: { id, bxcontext } }))
  })
}

/** Step 2: the browser comes back with the business, and goes to the consent page. */
function contextRoute(options: ConnectRoutesOptions): Router {
  const { platform, flows, vault } = options.connect
  return Router().get('/context', topLevelOnly, async (req, res) => {
    const { browser, hop } = arrival(options, req)
    try {
      const bxcontext = parseBxcontext(req.query[platform.startPage.bxcontext], platform)
      const flow = await flows.arrive(browser, bxcontext)
      const { id } = flow
      if (!(await vault.hasRoom({ userId: browser.userId, bxcontext })))
        throw new ConnectError('too_many_connections', undefined, flow)
      const onward: Onward =
        flow.phase === 'consenting'
          ? toConsent(options, flow, 303)
          : { hop: 'confirm', target: `/connect/confirm/${id}`, status: 303, flow: { id, bxcontext } }
      res.redirect(303, await hop(onward))
    } catch (error) {
      if (error instanceof ConnectError) {
        const { status, code: failure, flowId: id } = error
        await hop({ hop: 'consent', target: redirectUrls('')[0], status, failure, flow: { id } })
      }
      throw error
    }
  })
}

/** The question whether to connect the business that came back in place of the expected one. */
function confirmRoutes(options: ConnectRoutesOptions): Router {
  const { connect, pages } = options
  const { flows } = connect
  return Router()
    .get('/confirm/:id', async (req, res) => {
      const question = questionOf(await flows.read(browserSession(req, pages)), req.params.id)
      noteFlow(question.id)
      await pages.askAboutMismatch(req, res, question)
    })
    .post('/confirm/:id', async (req, res) => {
      const { browser, hop } = arrival(options, req)
      const flow = await flows.confirm(browser, req.params.id)
      pages.goOn(req, res, await hop(toConsent(options, flow, 200)))
    })
}

/** Step 3: the browser comes back with the code, which is exchanged once, and goes on to the outcome. */
function callbackRoutes(options: ConnectRoutesOptions): Router {
  return Router().get('/callback', topLevelOnly, handleCallback(options)).get('/failed', showFailure(options))
}

/** The hop to the consent page. */
function toConsent(
  { connect, baseUrl }: ConnectRoutesOptions,
  { id, bxcontext, state, codeVerifier }: Consenting,
  status: number,
): Onward {
  const redirectUri = redirectUrls(baseUrl)[1]
  const { href } = connect.oauth.authorizationUrl({ bxcontext, state, codeVerifier, redirectUri })
  return { hop: 'consent', target: href, status, flow: { id, bxcontext, state } }
}

/** Throws `ConnectError` (`invalid_bxcontext`). */
function parseBxcontext(value: unknown, { bxcontextSchema }: Platform): string {
  const bxcontext = bxcontextSchema.safeParse(value)
  if (!bxcontext.success) throw new ConnectError('invalid_bxcontext')
  return bxcontext.data
}

/**
 * Accepts top-level navigations only, since an image or a frame on another site, or a prefetch, would use up the flow. Browsers
 * that do not send `Sec-Fetch-Dest` are accepted.
 */
const topLevelOnly: RequestHandler = (req, _res, next) => {
  const destination = req.get('sec-fetch-dest') ?? 'document'
  if (destination !== 'document' || req.get('sec-purpose')?.includes('prefetch'))
    throw new ConnectError('not_a_navigation')
  next()
}
