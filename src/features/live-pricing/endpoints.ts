import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { KeyValueStore } from '../../connect/stores.ts'
import { LIMITS, PATHS } from '../../supplier-api/contract.ts'
import { requireToken } from './access.ts'
import { type Client, createClients } from './clients.ts'
import { LivePricingError } from './errors.ts'
import type { PriceProvider } from './price-provider.ts'
import { priceItems, readPriceRequest } from './pricing.ts'
import { callProvider } from './provider-call.ts'
import { describeProviderError } from './provider-error.ts'
import { bodyReader, parseJson } from './request-body.ts'
import { nearStoreJson, parseSearch, storeJson } from './stores.ts'
import { tokenEndpoint } from './token-endpoint.ts'
import { createTokens } from './tokens.ts'

export interface LivePricingOptions {
  provider: PriceProvider
  /** Clients that may call the API. */
  clients: readonly Client[]
  /** Keys from which the signing keys of access tokens are derived: the first signs, all of them verify. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The `{supplier_base_url}`; tokens issued for another are rejected. */
  baseUrl: string
  /** Calls allowed per client and window; null: no limit. */
  rateLimit: { limit: number; windowMs: number } | null
  /** How many reverse proxies are in front of the app. */
  trustProxy: number
  /** Counts failed attempts of all processes; undefined: each process counts its own. */
  store?: KeyValueStore | undefined
  log: Logger
  /** Lifetime of an access token, in seconds; 900 by default. */
  tokenSeconds?: number
  /** Timeout of the price provider, in ms; 10,000 by default. */
  timeoutMs?: number
  /** Time allowed for a request body, in ms; 30,000 by default. */
  bodyMs?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

/** A call of an endpoint. */
export interface Call {
  req: IncomingMessage
  res: ServerResponse
  /** The request target below the base URL; neither part is decoded. */
  target: { path: string; query: string }
}

export interface Endpoint {
  /** As in the log and in the docs, such as `/stores/:id`. */
  route: string
  /** Matches the path of a request target. */
  pattern: RegExp
  methods: readonly string[]
  /** Resolves to the response as JSON. Throws `LivePricingError`, `TokenRequestError`, or an error of the body parser. */
  answer(call: Call): Promise<string>
}

/** Of how many lines with an invalid price a log line has the items. */
const MAX_LOGGED = 20

const STORE_PATH = /^\/stores\/([^/]+)$/
const POST = ['POST']
const GET = ['GET', 'HEAD']

/** What the endpoints share. */
interface EndpointDependencies {
  provider: PriceProvider
  log: LivePricingOptions['log']
  /** How long the price provider may take, in ms. */
  timeoutMs: number
  /** Throws `LivePricingError` (401, 429). */
  authenticate: ReturnType<typeof requireToken>
  issueToken: ReturnType<typeof tokenEndpoint>
}

/** The four endpoints, in the order in which paths are compared. */
export function createEndpoints(options: LivePricingOptions): Endpoint[] {
  const { provider, clients, keys, baseUrl, rateLimit, trustProxy, store, log } = options
  const { tokenSeconds = 900, timeoutMs = 10_000, now = Date.now } = options
  const callers = createClients(clients)
  const tokens = createTokens({ keys, audience: baseUrl, lifetime: tokenSeconds, now })
  const deps: EndpointDependencies = {
    provider,
    log,
    timeoutMs,
    authenticate: requireToken(tokens, callers, rateLimit),
    issueToken: tokenEndpoint({ tokens, clients: callers, trustProxy, store, log }),
  }
  const endpoint = (
    path: string,
    methods: readonly string[],
    answer: (deps: EndpointDependencies, call: Call) => Promise<string>,
    pattern = new RegExp(`^${path}$`),
  ): Endpoint => ({ route: path, methods, pattern, answer: (call) => answer(deps, call) })
  return [
    endpoint(PATHS.prices, POST, prices),
    endpoint(PATHS.nearest, GET, nearest),
    endpoint(PATHS.store.replace('{id}', ':id'), GET, oneStore, STORE_PATH),
    endpoint(PATHS.token, POST, token),
  ]
}

const readTokenBody = bodyReader(LIMITS.tokenBodyBytes)
const readBody = bodyReader(LIMITS.bodyBytes)

async function token({ issueToken }: EndpointDependencies, { req, res }: Call): Promise<string> {
  // RFC 6749 section 5.1
  res.setHeader('Pragma', 'no-cache')
  return JSON.stringify(await issueToken(req, await readTokenBody(req, res)))
}

async function nearest(deps: EndpointDependencies, { req, res, target }: Call): Promise<string> {
  await deps.authenticate(req.headers.authorization)
  const place = parseSearch(target.query)
  return findStores(
    deps,
    res,
    (signal) => deps.provider.nearest(place, LIMITS.stores, signal),
    (near) => `[${near.slice(0, LIMITS.stores).map(nearStoreJson).join(',')}]`,
  )
}

async function oneStore(deps: EndpointDependencies, { req, res, target }: Call): Promise<string> {
  await deps.authenticate(req.headers.authorization)
  const id = storeIdIn(target.path)
  return findStores(
    deps,
    res,
    (signal) => deps.provider.store(id, signal),
    (store) => {
      if (!store) throw new LivePricingError(404, 'not_found', 'This store does not exist.')
      return storeJson(store)
    },
  )
}

async function prices(deps: EndpointDependencies, { req, res }: Call): Promise<string> {
  const { provider, timeoutMs, log } = deps
  await deps.authenticate(req.headers.authorization)
  const request = readPriceRequest(parseJson(await readBody(req, res)))
  const items = await priceItems(request, {
    prices: (lines, memberNumber) =>
      callProvider(res, timeoutMs, (signal) => provider.prices(lines, memberNumber, signal)),
    onError: (error) => logProviderError(deps, res, error),
    onInvalidResults: (results) =>
      log.error(
        { items: results.slice(0, MAX_LOGGED), count: results.length },
        'the price provider returned invalid prices',
      ),
  })
  return JSON.stringify(items)
}

/** Asks the price provider for stores. Its answer becomes JSON here: what cannot be written is a failure of it, too. */
async function findStores<T>(
  deps: EndpointDependencies,
  res: ServerResponse,
  find: (signal: AbortSignal) => Promise<T>,
  toJson: (found: T) => string,
): Promise<string> {
  try {
    return toJson(await callProvider(res, deps.timeoutMs, find))
  } catch (error) {
    if (error instanceof LivePricingError) throw error
    logProviderError(deps, res, error)
    throw new LivePricingError(503, 'stores_unavailable', 'Store data is temporarily unavailable.', {
      retryAfterMs: 30_000,
    })
  }
}

/** Logs an error of the price provider, unless it follows from the caller having disconnected. */
function logProviderError({ log }: EndpointDependencies, res: ServerResponse, error: unknown): void {
  if (!res.closed) log.error({ reason: describeProviderError(error) }, 'the price provider failed')
}

/** The decoded id in the path of a store. Throws `LivePricingError` (400). */
function storeIdIn(path: string): string {
  const [, id = ''] = STORE_PATH.exec(path) ?? []
  try {
    return decodeURIComponent(id)
  } catch {
    throw new LivePricingError(400, 'invalid_input', 'The request could not be read.')
  }
}
