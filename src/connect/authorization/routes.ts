import { createHash, randomUUID } from 'node:crypto'
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../describe-route.ts'
import { eventContext } from '../events.ts'
import type { Log } from '../log.ts'
import { MAX_TOKEN_LENGTH, type Platform } from '../platform/contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformUnavailableError,
  TokenRefusedError,
} from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import { retry } from '../platform/retry.ts'
import { requestContext } from '../request-context.ts'
import type { Vault } from '../vault/vault.ts'
import type {
  AuthorizationRequests,
  BrowserSession,
  Consent,
  Mismatch,
  Outcome,
  PendingExchange,
} from './authorization-requests.ts'
import {
  type BrowserFlow,
  type OnwardStatus,
  publishArrival,
  publishFailure,
  publishOnward,
} from './browser-events.ts'
import { ConnectError, consentFailure, FAILURE_CODES, type FailureCode, isFailureCode } from './errors.ts'
import { redirectUrls } from './redirect-urls.ts'

/** The pages that the flow needs. */
export interface ConnectPages {
  /** The id of the signed-in user. Throws if no user is signed in. */
  requireUser(req: Request): string
  isSignedIn(req: Request): boolean
  /** The error for a flow whose user signed out before it finished. */
  signedOut(): Error
  /** Leaves a notice that this business is connected, and resolves to the address of the page that shows it. */
  connectedPage(req: Request, bxcontext: string): Promise<string>
  /**
   * Sends a page that goes on to `url` by itself and has a link to it, or `{location}` as JSON. It must not redirect to another
   * origin: browsers apply `form-action` (CSP Level 3) to every redirect after a form post, and a platform may redirect to any
   * login host.
   */
  goOn(req: Request, res: Response, url: string): void
  /** Asks whether to connect the bxcontext that arrived; the form posts to the same address. */
  askAboutMismatch(req: Request, res: Response, mismatch: Mismatch): void | Promise<void>
}

/** The hops of a connect flow, each to the next one. */
export const HOPS = ['start', 'consent', 'exchange', 'result'] as const
export type Hop = (typeof HOPS)[number]

/**
 * Called before the browser goes to the `target` of a hop, and, for `exchange`, before the code of the callback at `target`
 * is exchanged. Resolves to the address that the browser opens instead, or to `target`. It must not throw. `state`: the one
 * of the consent request; for `exchange` and `result`, the callback's `state` parameter.
 */
export type BeforeHop = (req: Request, hop: Hop, target: string, state?: string) => Promise<string>

export interface ConnectRoutesOptions {
  connect: {
    platform: Platform
    authorizationRequests: AuthorizationRequests
    oauth: OAuth
    vault: Pick<Vault, 'connect'>
  }
  /** The public address of this app. */
  baseUrl: string
  beforeHop?: BeforeHop | undefined
  pages: ConnectPages
  log: Log
}

const [BXCONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const FAILED_PATH = '/connect/failed'
/** Where a form leads, for programs. */
const onwardSchema = z.object({ location: z.string() })
/** Carries a failure of this session to its page when the store cannot; a link cannot set it. */
const FAILED_COOKIE = 'connect_failed'
const FAILED_COOKIE_MS = 60_000
const FAILED_COOKIE_PATTERN = new RegExp(`\\b${FAILED_COOKIE}=(\\w+)\\.([\\w-]+)`)

/**
 * The delegated flow in the browser (specification 5.3): start, receive the bxcontext and ask for consent, exchange the
 * code. The callback redirects, so that the code leaves the address bar; `redirectFailedCallback`, mounted after it, does the
 * same for unexpected errors.
 */
export function connectRoutes(options: ConnectRoutesOptions): Router {
  return (
    Router()
      // A visit consumes the request, so a HEAD request (of a mail scanner, for example) must not count as one.
      .head([BXCONTEXT_PATH, CALLBACK_PATH], (_req, res) => {
        res.status(405).set('Allow', 'GET').end()
      })
      .use(startRoute(options), bxcontextRoute(options), confirmRoutes(options), callbackRoutes(options))
  )
}

function startRoute(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages, beforeHop = straightOn } = options
  const { platform, authorizationRequests, oauth } = connect
  const [bxcontextUrl] = redirectUrls(baseUrl)
  return Router().post(
    '/connect',
    describeRoute({
      summary:
        'Starts an authorization request. Answers `{location}`, the address on the platform to open in the browser; a page goes on to it by itself. Field: `bxcontext`, the business to reconnect (optional).',
      // Checked below: another value is `invalid_bxcontext`.
      body: z.object({ bxcontext: z.unknown().optional().meta({ type: 'string' }) }),
      response: onwardSchema,
      errors: ['invalid_bxcontext'],
    }),
    async (req, res) => {
      const [browser, startedAt, bxcontext] = [
        browserSession(req, pages),
        Date.now(),
        expectedBxcontext(req, platform),
      ]
      const authorizationRequestId = await authorizationRequests.start(browser, bxcontext)
      const { userId } = browser
      const flow = { platform, userId, authorizationRequestId, ...(bxcontext && { bxcontext }) }
      publishArrival(flow, 'POST', addressOf(req, baseUrl), {
        startedAt,
        ...(bxcontext && { form: { bxcontext } }),
      })
      const url = oauth.startUrl(bxcontextUrl)
      publishOnward(flow, url, 200)
      pages.goOn(req, res, await beforeHop(req, 'start', url.href))
    },
  )
}

function bxcontextRoute(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages } = options
  const { platform } = connect
  return Router().get(
    BXCONTEXT_PATH,
    describeRoute({
      summary: 'Receives the `bxcontext` that the user chose, and redirects to the consent page.',
      query: z.object({ [platform.startPage.bxcontext]: z.string() }),
      status: 303,
      errors: [
        'invalid_bxcontext',
        'missing_authorization_request',
        'bxcontext_replaced',
        'not_a_navigation',
      ],
    }),
    topLevelOnly,
    async (req, res) => {
      const [browser, startedAt, url] = [browserSession(req, pages), Date.now(), addressOf(req, baseUrl)]
      const { userId } = browser
      const bound = await bindBxcontext(connect, browser, req).catch((error: unknown) => {
        if (error instanceof ConnectError) {
          publishArrival({ platform, userId }, 'GET', url, { startedAt })
          publishFailure({ platform, userId }, new URL(BXCONTEXT_PATH, baseUrl), error)
        }
        throw error
      })
      publishArrival({ platform, userId, ...bound }, 'GET', url, { startedAt })
      if (!('id' in bound)) return res.redirect(303, await consentUrl(options, req, userId, bound, 303))
      publishOnward({ platform, userId, ...bound }, new URL('/connect/confirm', baseUrl), 303)
      res.redirect(303, `/connect/confirm/${bound.id}`)
    },
  )
}

/** The question whether to connect the business that came back in place of the expected one. */
function confirmRoutes(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages } = options
  const { platform, authorizationRequests } = connect
  return Router()
    .get(
      '/connect/confirm/:id',
      describeRoute({
        summary:
          'Asks the user what to do if the platform returns a different business from the one to reconnect. Nothing is stored yet.',
        response: z.object({ id: z.string(), bxcontext: z.string(), expected: z.string() }),
        errors: ['missing_authorization_request', 'invalid_state', 'bxcontext_replaced'],
      }),
      async (req, res) => {
        await pages.askAboutMismatch(
          req,
          res,
          await authorizationRequests.mismatch(browserSession(req, pages), req.params.id),
        )
      },
    )
    .post(
      '/connect/confirm/:id',
      describeRoute({
        summary: 'Continues with that other business. Answers `{location}`, as `POST /connect` does.',
        response: onwardSchema,
        errors: ['missing_authorization_request', 'invalid_state', 'bxcontext_replaced'],
      }),
      async (req, res) => {
        const [browser, startedAt] = [browserSession(req, pages), Date.now()]
        const { userId } = browser
        const consent = await authorizationRequests.confirm(browser, req.params.id)
        publishArrival({ platform, userId, ...consent }, 'POST', new URL('/connect/confirm', baseUrl), {
          startedAt,
        })
        pages.goOn(req, res, await consentUrl(options, req, userId, consent, 200))
      },
    )
}

function callbackRoutes(options: ConnectRoutesOptions): Router {
  return Router()
    .get(
      CALLBACK_PATH,
      describeRoute({
        summary:
          'Receives `code` and `state`, or `error`. Exchanges the code once and redirects, so that the code leaves the address bar.',
        query: z.object({ state: z.string(), code: z.string().optional(), error: z.string().optional() }),
        status: 303,
      }),
      topLevelOnly,
      (req, res) => handleCallback(options, req, res),
    )

    .get(
      FAILED_PATH,
      describeRoute({
        summary: 'Shows why the latest connect flow of this session failed.',
        status: 303,
        errors: FAILURE_CODES,
      }),
      (req, res) => showFailure(options, req, res),
    )
}

/** The address of the consent page. `status`: that of the answer which leads there. */
async function consentUrl(
  { connect: { platform, oauth }, baseUrl, beforeHop = straightOn }: ConnectRoutesOptions,
  req: Request,
  userId: string,
  consent: Consent,
  status: OnwardStatus,
): Promise<string> {
  const [, redirectUri] = redirectUrls(baseUrl)
  const url = await oauth.authorizationUrl({ ...consent, redirectUri })
  publishOnward({ platform, userId, ...consent }, url, status)
  return beforeHop(req, 'consent', url.href, consent.state)
}

/** Takes the bxcontext of the address for the pending request. Throws `ConnectError`. */
async function bindBxcontext(
  { platform, authorizationRequests }: ConnectRoutesOptions['connect'],
  browser: BrowserSession,
  req: Request,
) {
  const bxcontext = parseBxcontext(req.query[platform.startPage.bxcontext], platform)
  return authorizationRequests.bindBxcontext(browser, bxcontext)
}

/** Shows how the latest flow of this browser failed, or goes on to the connections. */
async function showFailure(
  { connect, pages }: ConnectRoutesOptions,
  req: Request,
  res: Response,
): Promise<void> {
  if (!pages.isSignedIn(req)) throw pages.signedOut()
  const browser = browserSession(req, pages)
  const [, cookieCode, session] = FAILED_COOKIE_PATTERN.exec(req.get('cookie') ?? '') ?? []
  if (isFailureCode(cookieCode) && session === browser.session) throw new ConnectError(cookieCode)
  const failure = await connect.authorizationRequests.lastFailure(browser)
  if (!isFailureCode(failure?.code)) return res.redirect(303, '/connections')
  throw new ConnectError(failure.code, undefined, failure)
}

/** Handles an unexpected error of the callback, such as an unavailable store: the code still leaves the address bar. */
export const redirectFailedCallback =
  (log: Log): ErrorRequestHandler =>
  (error, req, res, next) => {
    const isCallback = req.method === 'GET' && req.path.toLowerCase().replace(/\/$/, '') === CALLBACK_PATH
    if (!isCallback || res.headersSent || error instanceof ConnectError) return next(error)
    const { code, reason } = (error ?? {}) as { code?: string; reason?: string }
    log.error({ code, reason }, 'connect failed')
    rememberFailure(req, res, 'exchange_incomplete')
    res.redirect(303, FAILED_PATH)
  }

/** Consumes the request and exchanges the code, or shows the outcome of the first visit. */
async function handleCallback(options: ConnectRoutesOptions, req: Request, res: Response): Promise<void> {
  const { connect, baseUrl, pages, beforeHop = straightOn } = options
  const { platform, authorizationRequests } = connect
  if (!pages.isSignedIn(req)) return res.redirect(303, FAILED_PATH)
  const next = await beforeHop(req, 'exchange', req.originalUrl, stateOf(req))
  if (next !== req.originalUrl) return res.redirect(303, next)
  const browser = browserSession(req, pages)
  const flow: BrowserFlow = { platform, userId: browser.userId }
  const startedAt = Date.now()
  const arrived = () => publishArrival(flow, 'GET', addressOf(req, baseUrl), { startedAt })
  let expected: string | undefined
  try {
    const parameters = callbackParameters(req)
    const consumed = await authorizationRequests.consume(browser, parameters.state)
    flow.authorizationRequestId = consumed.authorizationRequestId
    arrived()
    const outcome = 'outcome' in consumed ? consumed.outcome : { connected: consumed.bxcontext }
    if ('failed' in outcome) throw new ConnectError(outcome.failed)
    if ('end' in consumed) {
      expected = consumed.expected
      const { authorizationRequestId, bxcontext } = consumed
      const context = { userId: browser.userId, authorizationRequestId, bxcontext }
      await eventContext.run(context, () => exchange(options, req, browser.userId, consumed, parameters))
    }
    res.clearCookie(FAILED_COOKIE, { path: FAILED_PATH })
    const page = await pages.connectedPage(req, outcome.connected)
    publishOnward(flow, new URL(page, baseUrl), 303)
    res.redirect(303, await beforeHop(req, 'result', page, stateOf(req)))
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    const { code, reason } = error
    if (!flow.authorizationRequestId) arrived()
    publishOnward(flow, new URL(FAILED_PATH, baseUrl), 303, code)
    res.locals.failure = { code, reason }
    // The store refuses writes, so only the browser can remember this failure.
    if (code === 'not_saved_yet') rememberFailure(req, res, code)
    else {
      res.clearCookie(FAILED_COOKIE, { path: FAILED_PATH })
      await authorizationRequests.noteFailure(browser, {
        code,
        requestId: requestContext.getStore()?.requestId ?? randomUUID(),
        expected,
      })
    }
    res.redirect(303, await beforeHop(req, 'result', FAILED_PATH, stateOf(req)))
  }
}

/** Exchanges the code, stores the connection, and records the outcome. Throws `ConnectError`. */
async function exchange(
  { connect: { oauth, vault }, baseUrl, log }: ConnectRoutesOptions,
  req: Request,
  userId: string,
  { bxcontext, codeVerifier, end }: PendingExchange,
  { state, error, code }: CallbackParameters,
): Promise<void> {
  try {
    if (error !== undefined) throw consentFailure(error)
    if (code === undefined) throw new ConnectError('invalid_callback')
    const callbackUrl = new URL(baseUrl + CALLBACK_PATH)
    callbackUrl.search = addressOf(req, baseUrl).search
    const outcome = await vault.connect({ userId, bxcontext }, () =>
      oauth.exchangeCode({ callbackUrl, bxcontext, state, codeVerifier }),
    )
    if (outcome === 'pending') throw new ConnectError('not_saved_yet')
    if (outcome === 'superseded')
      throw new ConnectError('exchange_incomplete', 'the account was disconnected or connected again meanwhile')
    await endSurely(end, { connected: bxcontext })
  } catch (thrown) {
    const mapped = toConnectError(thrown)
    const failure = mapped ?? new ConnectError('exchange_incomplete', (thrown as Error | null)?.name)
    const { code: failed, reason, status } = failure
    log[mapped && status !== 500 ? 'warn' : 'error']({ code: failed, reason }, 'connect failed')
    await endSurely(end, { failed })
    throw failure
  }
}

/** Stores the outcome; later, if the store fails: until then, opening the callback again waits for it. */
async function endSurely(end: PendingExchange['end'], outcome: Outcome): Promise<void> {
  await end(outcome).catch(() => void retry(() => end(outcome)).catch(() => {}))
}

const stateOf = (req: Request) => String(req.query.state)

const straightOn: BeforeHop = async (_req, _hop, target) => target

/** The address that the browser opened. */
const addressOf = (req: Request, baseUrl: string) =>
  // The target of a request may be an address that cannot be read.
  URL.parse(req.originalUrl, baseUrl) ?? new URL(req.path, baseUrl)

/** Throws an error for the developer without a session: flows of different browsers could not be told apart. */
function sessionDigest({ sessionID }: Request & { sessionID?: string }): string {
  if (!sessionID) throw new Error('connectRoutes needs req.sessionID: use express-session before it')
  return createHash('sha256').update(sessionID).digest('base64url')
}

const browserSession = (req: Request, pages: ConnectPages): BrowserSession => ({
  userId: pages.requireUser(req),
  session: sessionDigest(req),
})

/** Sets the cookie of a failure that only the browser remembers, for the page at `FAILED_PATH`. */
function rememberFailure(req: Request, res: Response, code: FailureCode): void {
  res.cookie(FAILED_COOKIE, `${code}.${sessionDigest(req)}`, {
    httpOnly: true,
    sameSite: 'lax',
    secure: req.secure,
    maxAge: FAILED_COOKIE_MS,
    path: FAILED_PATH,
  })
}

/** The bxcontext to reconnect, if the form names one. Throws `ConnectError` (`invalid_bxcontext`). */
function expectedBxcontext(req: Request, platform: Platform): string | undefined {
  const value = req.body?.bxcontext
  return value === undefined || value === '' ? undefined : parseBxcontext(value, platform)
}

function parseBxcontext(value: unknown, { bxcontextSchema }: Platform): string {
  const bxcontext = bxcontextSchema.safeParse(value)
  if (!bxcontext.success) throw new ConnectError('invalid_bxcontext')
  return bxcontext.data
}

/**
 * Accepts top-level navigations only: an image or a frame on another site, or a prefetch, would consume the request.
 * Browsers that do not send `Sec-Fetch-Dest` are accepted.
 */
const topLevelOnly: RequestHandler = (req, _res, next) => {
  const destination = req.get('sec-fetch-dest') ?? 'document'
  if (destination !== 'document' || req.get('sec-purpose')?.includes('prefetch'))
    throw new ConnectError('not_a_navigation')
  next()
}

interface CallbackParameters {
  state: string
  code: string | undefined
  error: string | undefined
}

/** Throws `ConnectError` (`invalid_callback`) unless there is one state and either one code or one error. */
function callbackParameters(req: Request): CallbackParameters {
  const parameter = (name: string): string | undefined => {
    const value = req.query[name]
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' || value.length > MAX_TOKEN_LENGTH)
      throw new ConnectError('invalid_callback')
    return value
  }
  const [state, code, error] = [parameter('state'), parameter('code'), parameter('error')]
  if (state === undefined || (code === undefined) === (error === undefined))
    throw new ConnectError('invalid_callback')
  return { state, code, error }
}

/** Maps a platform error to an error of this flow; null for any other error. */
function toConnectError(error: unknown): ConnectError | null {
  if (error instanceof ConnectError) return error
  if (error instanceof InvalidGrantError) return new ConnectError('code_rejected')
  if (!(error instanceof PlatformError)) return null
  const { code, reason } = error
  if (error instanceof TokenRefusedError) return new ConnectError('code_rejected', reason)
  if (error instanceof PlatformUnavailableError) return new ConnectError('platform_unavailable', reason)
  if (error instanceof ConfigurationError) return new ConnectError('misconfigured', reason)
  return new ConnectError('platform_rejected', reason ?? code)
}
