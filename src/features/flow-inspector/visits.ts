/** Middleware before the core's connect routes. Records the requests with which signed-in users go on in a connect flow. */
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { browserSession } from '../../connect/express.ts'
import { redirectUrls, requestContext } from '../../connect/index.ts'
import { currentUser, requireUser } from '../../web/feature-api.ts'
import type { Heading } from './flow.ts'
import type { Inspector } from './inspector.ts'
import type { Raw } from './masking.ts'
import { splitUrl } from './steps.ts'

/** The parameter that pauses add to a repeated request. It is not recorded. */
export const CONTINUE = 'continue'

/** The button, the returns from the start page and the consent page, and the answer to a question of the app. */
type Place = 'start' | 'context' | 'confirm' | 'callback'

const ARRIVALS: Record<Place, Heading> = {
  start: { topic: 'connect_started', title: 'The user presses “Connect a business”' },
  context: { topic: 'bxcontext_received', title: 'The browser brings the chosen business (bxcontext)' },
  confirm: { topic: 'confirm_bxcontext', title: 'The user accepts the other business' },
  callback: { topic: 'callback_received', title: "The browser brings the consent page's answer" },
}
const RECONNECT: Heading = { topic: 'connect_started', title: 'The user presses “Reconnect”' }

const TO_CONSENT: Heading = { topic: 'to_consent_page', title: 'Send the browser to the consent page' }
const DEPARTURES: Record<Place, Heading> = {
  start: { topic: 'to_start_page', title: "Send the browser to the platform's start page" },
  context: TO_CONSENT,
  confirm: TO_CONSENT,
  callback: { topic: 'to_connections', title: 'Redirect to the connections' },
}
const QUESTION: Heading = { topic: 'confirm_bxcontext', title: 'Ask about the other business' }

export function recordVisits(inspector: Inspector): Router {
  const at = (place: Place) => recordVisit(inspector, place)
  return Router()
    .post('/connect', at('start'))
    .get('/connect/context', at('context'))
    .post('/connect/confirm/:id', at('confirm'))
    .get('/connect/callback', at('callback'))
}

/** A request of the browser, and the known parts of its response. */
interface Visit {
  place: Place
  req: Request
  res: Response
  /** The core sets its `flowId`. */
  context: { flowId?: string } | undefined
  failure?: string | undefined
  /** The business named in the request, unless the app refuses the request. */
  bxcontext?: string | undefined
}

function recordVisit(inspector: Inspector, place: Place): RequestHandler {
  return (req, res, next) => {
    const user = currentUser(req)
    if (!user) return next()
    const at = new Date().toISOString()
    const context = requestContext.getStore()
    const note = async () => {
      const sentAt = new Date().toISOString()
      const failure = failureOf(res)
      const named = failure === undefined ? businessIn(inspector, place, req) : undefined
      const visit = { place, req, res, context, failure, bxcontext: named }
      const target = await targetOf(inspector, visit)
      inspector.recorder.add(user.id, { ...context, ...(named && { bxcontext: named }) }, () => [
        { at, ms: 0, from: 'browser', to: 'app', ...arrival(inspector, visit) },
        { at: sentAt, ms: 0, from: 'app', to: 'browser', ...departure(inspector, visit, target) },
      ])
    }
    // The app works without recorded flows.
    res.once('finish', () => void note().catch(() => {}))
    next()
  }
}

/** The failure code on the page in the response, or on the page that the response redirects to. */
function failureOf(res: Response): string | undefined {
  if (res.statusCode >= 400) return res.locals.failure?.code ?? `http_${res.statusCode}`
  const [path, query] = String(res.getHeader('location') ?? '').split('?')
  return path === '/connect/failed' ? (new URLSearchParams(query).get('error') ?? undefined) : undefined
}

function businessIn({ connect }: Inspector, place: Place, { query, body }: Request): string | undefined {
  const named: unknown = place === 'context' ? query[connect.platform.startPage.bxcontext] : body?.bxcontext
  return typeof named === 'string' && named !== '' ? named : undefined
}

/** The address that the browser goes to next, by a redirect or an automatic refresh; undefined if it stays. */
async function targetOf({ connect, baseUrl }: Inspector, visit: Visit): Promise<URL | undefined> {
  const { place, req, res, context } = visit
  const location = res.getHeader('location')
  if (typeof location === 'string') return new URL(location, baseUrl)
  if (res.statusCode >= 400) return undefined
  const [contextUrl, redirectUri] = redirectUrls(baseUrl)
  if (place === 'start') return connect.oauth.startUrl(contextUrl)
  const { flows } = await connect.flows.read(browserSession(req, { requireUser }))
  const flow = flows.find(({ id }) => id === context?.flowId)
  if (!flow || !('codeVerifier' in flow && 'bxcontext' in flow)) return undefined
  return connect.oauth.authorizationUrl({ ...flow, redirectUri })
}

function arrival({ masking, baseUrl }: Inspector, { place, req, bxcontext }: Visit) {
  const { method, originalUrl } = req
  const { address, query } = splitUrl(URL.parse(originalUrl, baseUrl) ?? baseUrl)
  const sent: Raw[] = query.filter(([name]) => name !== CONTINUE)
  if (method === 'POST' && bxcontext) sent.push(['bxcontext', bxcontext])
  const { parameters } = masking.mask({ parameters: sent })
  const heading = place === 'start' && bxcontext ? RECONNECT : ARRIVALS[place]
  return { ...heading, request: { method, url: address.slice(0, 4000), headers: [], parameters } }
}

/** Masked separately from the request, because a value that is secret in one of them may be public in the other. */
function departure({ masking }: Inspector, { place, res, failure }: Visit, target: URL | undefined) {
  const { parameters } = masking.mask({ parameters: target?.searchParams ?? [] })
  const headers = target ? [{ name: 'location', value: splitUrl(target).address.slice(0, 1000) }] : []
  const response = { status: res.statusCode, headers, parameters }
  if (failure === undefined)
    return { ...(target?.pathname.startsWith('/connect/confirm/') ? QUESTION : DEPARTURES[place]), response }
  const failed: Heading = { topic: 'flow_failed', title: `The app shows why it failed: ${failure}` }
  return { ...failed, response, failure }
}
