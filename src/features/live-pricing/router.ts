import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestContext } from '../../connect/index.ts'
import { PATHS } from '../../supplier-api/contract.ts'
import { startBodyDeadline } from '../../web/body-deadline.ts'
import type { PlainHandler } from '../../web/plain-handler.ts'
import { type Failure, requestLogger } from '../../web/request-log.ts'
import { type Call, createEndpoints, type Endpoint, type LivePricingOptions } from './endpoints.ts'
import { describeUnexpected, problemOf, sendJson, sendProblem, sendTokenError } from './error-response.ts'
import { LivePricingError } from './errors.ts'

/** The part of a request target below `path`, or undefined if it is elsewhere. */
function targetBelow(path: string, url = ''): Call['target'] | undefined {
  // Servers have to accept the absolute form (RFC 9112 section 3.2.2).
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  if (!target.startsWith(path)) return undefined
  const [, below = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(target.slice(path.length)) ?? []
  return { path: below, query }
}

/**
 * The live pricing API (specification 4.1): `POST /connect/token`, `GET /stores/nearest`, `GET /stores/{id}` and
 * `POST /request-prices`. It runs in front of Express, whose middleware would take as long as a search for stores:
 * `npm run bench -- live-pricing` measures it.
 */
export function livePricingApi(options: LivePricingOptions & { path: string }): PlainHandler {
  const { path, log, bodyMs: ms } = options
  const endpoints = createEndpoints(options)
  const logRequest = requestLogger(log)

  function handle(req: IncomingMessage, res: ServerResponse): boolean {
    const target = targetBelow(path, req.url)
    const endpoint = target && endpoints.find(({ pattern }) => pattern.test(target.path))
    if (!endpoint) return false
    let failure: Failure | undefined
    const requestId = logRequest(req, res, () => ({ route: path + endpoint.route, failure }))
    const onTimeout = (timeout: Failure) => {
      failure = timeout
    }
    startBodyDeadline(req, res, { requestId, onTimeout, ...(ms !== undefined && { ms }) })
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('X-Content-Type-Options', 'nosniff')
    const onError = (error: unknown) => {
      // The response to a slow body has been sent.
      if (res.headersSent) return
      const problem = problemOf(error)
      failure = { code: problem.code }
      if (problem.status === 500) log.error({ reason: describeUnexpected(error) }, 'live pricing failed')
      if (endpoint.route === PATHS.token) sendTokenError(res, problem)
      else sendProblem(res, problem, requestId)
    }
    requestContext.run({ requestId }, () => respond(endpoint, { req, res, target }).catch(onError))
    return true
  }

  const routes = endpoints.map(({ methods: [method], route }) => `${method} ${path}${route}`)
  return { routes, handle }
}

async function respond({ methods, answer }: Endpoint, call: Call): Promise<void> {
  const { req, res } = call
  if (!methods.includes(req.method ?? '')) {
    const allowed = methods.join(', ')
    res.setHeader('Allow', allowed)
    throw new LivePricingError(405, 'method_not_allowed', `This endpoint supports only ${allowed}.`)
  }
  sendJson(res, await answer(call))
}
