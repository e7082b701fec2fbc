import { isUtf8 } from 'node:buffer'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Client } from './clients.ts'
import { createClients } from './clients.ts'
import { LIMITS, NEAREST, PATHS, type Store } from './contract.ts'
import { CallRefused, TokenRefused } from './errors.ts'
import type { NearStore, Place, PriceBook } from './price-book.ts'
import { badInput, priceItems, readPriceRequest, within } from './pricing.ts'
import { readTokenRequest } from './token-request.ts'
import { createTokens, type Tokens } from './tokens.ts'

export interface LivePricingOptions {
  book: PriceBook
  /** Who may call. */
  clients: readonly Client[]
  /** Access tokens are signed with a key derived from the first of these, and verified with all. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The `{supplier_base_url}`; tokens of another are refused. */
  baseUrl: string
  /** How many calls a client may make in a window; null: no limit. */
  rateLimit: { limit: number; windowMs: number } | null
  log: Logger
  /** Life of an access token, in seconds. */
  tokenSeconds?: number
  /** How long the price book may take, in ms. */
  patienceMs?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

/** How many wrong credentials a minute are looked at: of one client from one address, and from one address at all. */
const GUESSES = { ofClient: 10, ofAddress: 30, windowMs: 60_000 }

/**
 * Interface A below a base address (specification 4.1): `POST /connect/token`, `GET /stores/nearest`,
 * `GET /stores/{id}`, `POST /request-prices`. Needs nothing of the app around it; errors are answered here.
 */
export function livePricing(options: LivePricingOptions): Router {
  const { book, clients, keys, baseUrl, rateLimit, log } = options
  const { tokenSeconds = 900, patienceMs = 10_000, now = Date.now } = options
  const tokens = createTokens({ keys, audience: baseUrl, lifetime: tokenSeconds, now })
  const body = (limit: number) => express.raw({ type: () => true, limit })
  const onFault = (error: unknown) => log.error({ reason: faultOf(error) }, 'the price book failed')
  const bearer = requireToken(tokens, createClients(clients).has, rateLimit)

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await within(patienceMs, work())
    } catch (error) {
      onFault(error)
      throw new CallRefused(503, 'stores_unavailable', 'The stores cannot be told just now.', {
        retryAfterMs: 30_000,
      })
    }
  }

  return Router({ caseSensitive: true, strict: true })
    .use((_req, res, next) => {
      res.set('Cache-Control', 'no-store')
      res.set('X-Content-Type-Options', 'nosniff')
      next()
    })
    .post(PATHS.token, body(LIMITS.tokenBodyBytes), tokenEndpoint(tokens, clients, log))
    .get(PATHS.nearest, bearer, async (req, res) => {
      const place = placeOf(req)
      const near = await ask(() => book.nearest(place, LIMITS.stores))
      res.type('json').send(`[${near.slice(0, LIMITS.stores).map(nearStoreJson).join(',')}]`)
    })
    .get('/stores/:id', bearer, async (req, res) => {
      const store = await ask(() => book.store(String(req.params.id)))
      if (!store) throw new CallRefused(404, 'not_found', 'There is no store of this id.')
      res.type('json').send(storeJson(store))
    })
    .post(PATHS.prices, bearer, body(LIMITS.bodyBytes), async (req, res) => {
      const request = readPriceRequest(fromJson(req))
      res.type('json').send(JSON.stringify(await priceItems(request, { book, patienceMs, onFault })))
    })
    .all(PATHS.token, onlyBy('POST'))
    .all(PATHS.prices, onlyBy('POST'))
    .all(PATHS.nearest, onlyBy('GET, HEAD'))
    .all('/stores/:id', onlyBy('GET, HEAD'))
    .use(answerError(log))
}

function tokenEndpoint(tokens: Tokens, clients: readonly Client[], log: Logger): RequestHandler {
  const { authenticate } = createClients(clients)
  const duration = GUESSES.windowMs / 1000
  const ofClient = new RateLimiterMemory({ points: GUESSES.ofClient, duration })
  const ofAddress = new RateLimiterMemory({ points: GUESSES.ofAddress, duration })
  let warned = false

  return async (req, res) => {
    // RFC 6749 section 5.1
    res.set('Pragma', 'no-cache')
    const { clientId, clientSecret, asSent } = readTokenRequest(req.headers, bodyOf(req))
    if (!warned && req.get('x-forwarded-for') && req.ip === req.socket.remoteAddress) {
      warned = true
      log.warn(
        'a proxy stands in front, and TRUSTED_PROXIES does not say so: all callers seem to have one address',
      )
    }
    const address = addressOf(req)
    const client = `${address} ${clientId.slice(0, 100)}`
    const held = await ofClient.get(client)
    if (held && held.consumedPoints >= GUESSES.ofClient) throw tooManyGuesses(held)
    const right =
      authenticate(clientId, clientSecret) || (asSent && authenticate(asSent.clientId, asSent.clientSecret))
    if (!right) {
      await ofClient.penalty(client)
      // Who is right is let in all the same: others at the address, or behind the same proxy, may be guessing.
      const all = await ofAddress.penalty(address)
      if (all.consumedPoints > GUESSES.ofAddress) throw tooManyGuesses(all)
      throw new TokenRefused(401, 'invalid_client', 'The client id or the client secret is wrong.')
    }
    const token = await tokens.issue(clientId)
    res.json({ access_token: token, token_type: 'Bearer', expires_in: tokens.lifetime })
  }
}

function tooManyGuesses({ msBeforeNext }: RateLimiterRes): TokenRefused {
  return new TokenRefused(
    429,
    'temporarily_unavailable',
    'Too many wrong credentials. Try again later.',
    msBeforeNext,
  )
}

/** Whose call it is, by a bearer token (RFC 6750) in the header, and not more of their calls than the limit. */
function requireToken(
  tokens: Tokens,
  isClient: (id: string) => boolean,
  rateLimit: LivePricingOptions['rateLimit'],
): RequestHandler {
  const calls =
    rateLimit && new RateLimiterMemory({ points: rateLimit.limit, duration: rateLimit.windowMs / 1000 })
  return async (req, _res, next) => {
    const header = req.get('authorization')
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(header ?? '') ?? []
    if (!token)
      throw new CallRefused(
        401,
        'no_token',
        'This call needs an access token: Authorization: Bearer, from POST /connect/token.',
      )
    const client = await tokens.verify(token)
    if (client === undefined || !isClient(client))
      throw new CallRefused(
        401,
        'invalid_token',
        'The access token is not valid, or not any more. Ask for a new one.',
      )
    if (calls) {
      await calls.consume(client).catch((over: RateLimiterRes) => {
        throw new CallRefused(429, 'too_many_requests', 'Too many requests. Try again later.', {
          retryAfterMs: over.msBeforeNext,
        })
      })
    }
    next()
  }
}

/** An address; of IPv6 the network of 64 bits, as one host has as many addresses as it likes. */
function addressOf({ ip = '' }: Request): string {
  if (!ip.includes(':') || ip.startsWith('::ffff:')) return ip
  const [head = '', tail] = ip.split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last].slice(0, 4).join(':')
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

/** The search of `GET /stores/nearest`. Throws `CallRefused` (400) that names each bad or missing parameter. */
function placeOf({ query }: Request): Place {
  const errors: { path: string; message: string }[] = []
  const read = (name: string, least: number, most: number): number => {
    const text = query[name]
    const value = typeof text === 'string' && NUMBER.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const message = `${text === undefined ? 'is missing: it' : ''} must be one number from ${least} to ${most}`
    errors.push({ path: name, message: message.trim() })
    return Number.NaN
  }
  const place = {
    latitude: read(NEAREST.latitude, -90, 90),
    longitude: read(NEAREST.longitude, -180, 180),
    radiusKm: read(NEAREST.radius, 0, LIMITS.radiusKm),
  }
  if (errors.length > 0) throw badInput(errors)
  return place
}

/** Stores are told again and again, and are long: one that is frozen is written as JSON once. */
const written = new WeakMap<Store, string>()
function storeJson(store: Store): string {
  if (!Object.isFrozen(store)) return JSON.stringify(store)
  let json = written.get(store)
  if (json === undefined) {
    json = JSON.stringify(store)
    written.set(store, json)
  }
  return json
}

function nearStoreJson({ store, distanceKm }: NearStore): string {
  const distance = Math.round(distanceKm * 1000) / 1000
  if (!Object.isFrozen(store)) return JSON.stringify({ ...store, distance })
  return `${storeJson(store).slice(0, -1)},"distance":${distance}}`
}

function fromJson(req: Request): unknown {
  const body = bodyOf(req)
  try {
    if (isUtf8(body)) return JSON.parse(body.toString())
  } catch {
    // It is told below.
  }
  throw badInput([{ path: 'body', message: 'is not JSON in UTF-8' }])
}

const bodyOf = (req: Request): Buffer => (Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))

/** Ends a base: what is at none of its addresses is answered as its callers expect. */
export const noSuchEndpoint: RequestHandler = (req, res) => {
  const problem = {
    type: 'about:blank',
    title: TITLES[404],
    status: 404,
    detail: 'There is nothing at this address.',
  }
  res
    .status(404)
    .type('application/problem+json')
    .json({ ...problem, code: 'not_found', ...(req.id && { requestId: req.id }) })
}

function onlyBy(methods: string): RequestHandler {
  return (_req, res) => {
    res.set('Allow', methods)
    throw new CallRefused(405, 'method_not_allowed', `This address takes ${methods}.`)
  }
}

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Not authorised',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Not available',
}

/** Every error as its caller sees it: the token endpoint's by RFC 6749, the others as problem documents. */
function answerError(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const isToken = req.path === PATHS.token
    const { status, code, message, retryAfterMs, errors } = publicFace(error)
    if (status === 500) log.error({ code, reason: faultOf(error) }, 'request failed')
    if (retryAfterMs !== undefined)
      res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
    res.status(status)
    if (isToken) {
      if (status === 401) res.set('WWW-Authenticate', 'Basic realm="live-pricing", charset="UTF-8"')
      return res.json({ error: tokenError(status, code), error_description: message })
    }
    if (status === 401)
      res.set(
        'WWW-Authenticate',
        `Bearer realm="live-pricing"${code === 'no_token' ? '' : `, error="${code}"`}`,
      )
    const problem = { type: 'about:blank', title: TITLES[status] ?? 'Error', status, detail: message, code }
    return res
      .type('application/problem+json')
      .json({ ...problem, ...(req.id && { requestId: req.id }), ...(errors && { errors }) })
  }
}

interface Face {
  status: number
  code: string
  message: string
  retryAfterMs?: number | undefined
  errors?: { path: string; message: string }[] | undefined
}

function publicFace(error: unknown): Face {
  if (error instanceof CallRefused) return error
  if (error instanceof TokenRefused) {
    const { status, error: code, message, retryAfterMs } = error
    return { status, code, message, retryAfterMs }
  }
  // What reading the body or the address throws: too large, cut off, of an unknown encoding.
  const { status } = (error ?? {}) as { status?: unknown }
  if (status === 413)
    return { status: 413, code: 'too_large', message: 'The body is larger than is taken here.' }
  if (typeof status === 'number' && status >= 400 && status < 500)
    return { status: 400, code: 'invalid_input', message: 'The request could not be read.' }
  return { status: 500, code: 'server_error', message: 'The fault is ours. Please try again.' }
}

function tokenError(status: number, code: string): string {
  if (status === 405 || code === 'too_large' || code === 'invalid_input') return 'invalid_request'
  return code
}

/** An error's words may hold anything: only what it is, and where it was thrown. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const [place = ''] = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return `${error.name} ${place.trim()}`
}
