import { createHash } from 'node:crypto'
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { AppError } from '../app-error.ts'
import { requestContext, workContext } from '../context.ts'
import { describeRoute } from '../describe-route.ts'
import type { Log } from '../log.ts'
import { MAX_TOKEN_LENGTH, type Platform } from '../platform/contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformUnavailableError,
} from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import { retry } from '../retry.ts'
import type { Vault } from '../vault/vault.ts'
import { ConnectError, consentFailure, FAILURE_CODES, type FailureCode, isFailureCode } from './errors.ts'
import type { BrowserSession, FlowRecords } from './flow-records.ts'
import type { Confirming, Consenting, Exchanging, Flow, Outcome } from './flows.ts'
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
  askAboutMismatch(req: Request, res: Response, flow: Confirming): void | Promise<void>
}

/** The steps of a connect flow at which the browser goes on, and the exchange of the code. */
export type Hop = 'start' | 'confirm' | 'consent' | 'exchange' | 'result'

/** A request of the browser in a connect flow, and where the browser goes next. */
export interface HopEvent {
  hop: Hop
  req: Request
  /** When the request arrived, in ms since 1970. */
  arrivedAt: number
  /** The next address; for `exchange` that of the callback, whose code is exchanged next. */
  target: string
  /** The status of the answer: 303, 200 for a page that goes on by itself or, without a next address, that of the failure. */
  status: number
  /** The flow, as far as it is known. `state`: that of the consent request. */
  flow: {
    userId: string
    id?: string | undefined
    bxcontext?: string | undefined
    state?: string | undefined
  }
  /** Why the flow failed, if the next page says so. */
  failure?: FailureCode
}

/** Called at each hop. Resolves to the address that the browser opens, which is usually `target`. It must not throw. */
export type OnHop = (event: HopEvent) => Promise<string>

export interface ConnectRoutesOptions {
  connect: {
    platform: Platform
    flows: FlowRecords
    oauth: OAuth
    vault: Pick<Vault, 'connect' | 'find'>
  }
  /** The public address of this app. */
  baseUrl: string
  onHop?: OnHop | undefined
  pages: ConnectPages
  log: Log
}

const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const FAILED_PATH = '/connect/failed'
/** Where a form leads, for programs. */
const onwardSchema = z.object({ location: z.string() })

/**
 * The delegated flow in the browser (specification 5.3): start, receive the bxcontext and ask for consent, exchange the
 * code. The callback redirects, so that the code leaves the address bar; `redirectFailedCallback`, mounted after it, does the
 * same for unexpected errors.
 */
export function connectRoutes(options: ConnectRoutesOptions): Router {
  return (
    Router()
      // A visit uses a flow up, so a HEAD request (of a mail scanner, for example) must not count as one.
      .head([CONTEXT_PATH, CALLBACK_PATH], (_req, res) => {
        res.status(405).set('Allow', 'GET').end()
      })
      .use(startRoute(options), contextRoute(options), confirmRoutes(options), callbackRoutes(options))
  )
}

/** Step 1: the user presses Connect, and goes to the platform to choose a business. */
function startRoute(options: ConnectRoutesOptions): Router {
  const { connect, baseUrl, pages } = options
  const { platform, flows, oauth } = connect
  return Router().post(
    '/connect',
    describeRoute({
      summary:
        'Starts a connect flow. Answers `{location}`, the address on the platform to open in the browser; a page goes on to it by itself. Field: `bxcontext`, the business to reconnect (optional).',
      // Checked below: another value is `invalid_bxcontext`.
      body: z.object({ bxcontext: z.unknown().optional().meta({ type: 'string' }) }),
      response: onwardSchema,
      errors: ['invalid_bxcontext'],
    }),
    async (req, res) => {
      const { browser, hop } = arrival(options, req)
      const bxcontext = expectedBxcontext(req, platform)
      const { id } = await flows.start(browser, bxcontext)
      const target = oauth.startUrl(redirectUrls(baseUrl)[0]).href
      pages.goOn(req, res, await hop({ hop: 'start', target, status: 200, flow: { id, bxcontext } }))
    },
  )
}

/** Step 2: the browser comes back with the business, and goes to the consent page. */
function contextRoute(options: ConnectRoutesOptions): Router {
  const { platform, flows } = options.connect
  return Router().get(
    CONTEXT_PATH,
    describeRoute({
      summary: 'Receives the `bxcontext` that the user chose, and redirects to the consent page.',
      query: z.object({ [platform.startPage.bxcontext]: z.string() }),
      status: 303,
      errors: ['invalid_bxcontext', 'missing_authorization_request', 'consent_expired', 'not_a_navigation'],
    }),
    topLevelOnly,
    async (req, res) => {
      const { browser, hop } = arrival(options, req)
      try {
        const bxcontext = parseBxcontext(req.query[platform.startPage.bxcontext], platform)
        const flow = await flows.arrive(browser, bxcontext)
        const { id } = flow
        const onward: Onward =
          flow.phase === 'consenting'
            ? toConsent(options, flow, 303)
            : { hop: 'confirm', target: `/connect/confirm/${id}`, status: 303, flow: { id, bxcontext } }
        res.redirect(303, await hop(onward))
      } catch (error) {
        if (error instanceof ConnectError)
          await hop({ hop: 'consent', target: CONTEXT_PATH, status: error.status, failure: error.code })
        throw error
      }
    },
  )
}

/** The question whether to connect the business that came back in place of the expected one. */
function confirmRoutes(options: ConnectRoutesOptions): Router {
  const { connect, pages } = options
  const { flows } = connect
  const errors = ['missing_authorization_request', 'consent_expired']
  return Router()
    .get(
      '/connect/confirm/:id',
      describeRoute({
        summary:
          'Asks the user what to do if the platform returns a different business from the one to reconnect. Nothing is stored yet.',
        response: z.object({ id: z.string(), bxcontext: z.string(), expected: z.string() }),
        errors,
      }),
      async (req, res) => {
        const flow = await flows.confirming(browserSession(req, pages), req.params.id)
        await pages.askAboutMismatch(req, res, flow)
      },
    )
    .post(
      '/connect/confirm/:id',
      describeRoute({
        summary: 'Continues with that other business. Answers `{location}`, as `POST /connect` does.',
        response: onwardSchema,
        errors,
      }),
      async (req, res) => {
        const { browser, hop } = arrival(options, req)
        const flow = await flows.confirm(browser, req.params.id)
        pages.goOn(req, res, await hop(toConsent(options, flow, 200)))
      },
    )
}

/** Step 3: the browser comes back with the code, which is exchanged once, and goes on to the outcome. */
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
        summary: 'Shows why a connect flow failed. `error`: the code of the failure.',
        query: z.object({ error: z.string() }),
        status: 303,
        errors: FAILURE_CODES,
      }),
      (req, res) => showFailure(options, req, res),
    )
}

/** Where a hop leads, and what it has found out about the flow. */
type Onward = Omit<HopEvent, 'req' | 'arrivedAt' | 'flow'> & { flow?: Omit<HopEvent['flow'], 'userId'> }

/** Who asks, and a function that reports a hop and resolves to the address that the browser opens next. */
function arrival({ pages, onHop }: ConnectRoutesOptions, req: Request) {
  const arrivedAt = Date.now()
  const browser = browserSession(req, pages)
  const { userId } = browser
  const hop = async ({ flow, ...event }: Onward): Promise<string> =>
    onHop ? onHop({ ...event, req, arrivedAt, flow: { userId, ...flow } }) : event.target
  return { browser, hop }
}

/** To the consent page. */
function toConsent(
  { connect, baseUrl }: ConnectRoutesOptions,
  { id, bxcontext, state, codeVerifier }: Consenting,
  status: number,
): Onward {
  const redirectUri = redirectUrls(baseUrl)[1]
  const { href } = connect.oauth.authorizationUrl({ bxcontext, state, codeVerifier, redirectUri })
  return { hop: 'consent', target: href, status, flow: { id, bxcontext, state } }
}

/** Shows how the flow of this callback ended, at an address without the code. */
async function handleCallback(options: ConnectRoutesOptions, req: Request, res: Response): Promise<void> {
  const { pages } = options
  if (!pages.isSignedIn(req)) return res.redirect(303, FAILED_PATH)
  const { browser, hop } = arrival(options, req)
  const state = typeof req.query.state === 'string' ? req.query.state : undefined
  const next = await hop({ hop: 'exchange', target: req.originalUrl, status: 303, flow: { state } })
  if (next !== req.originalUrl) return res.redirect(303, next)
  const { flow, outcome } = await endFlow(options, req, browser)
  const result = { hop: 'result', status: 303, flow: { id: flow?.id, state } } as const
  if ('connected' in outcome) {
    const target = await pages.connectedPage(req, outcome.connected)
    return res.redirect(303, await hop({ ...result, target }))
  }
  const { failed: failure } = outcome
  res.locals.failure = { code: failure }
  const target = failedPath(failure, flow?.expected)
  res.redirect(303, await hop({ ...result, target, failure }))
}

/** Resolves to how the flow ended: the first visit of its callback ends it, and the others wait for that. */
async function endFlow(
  options: ConnectRoutesOptions,
  req: Request,
  browser: BrowserSession,
): Promise<{ flow?: Flow; outcome: Outcome }> {
  const { connect, log } = options
  const parameters = callbackParameters(req)
  if (!parameters) return { outcome: { failed: 'invalid_callback' } }
  const flow = await connect.flows.claim(browser, parameters.state)
  if (!flow) return { outcome: { failed: 'invalid_state' } }
  if (flow.phase === 'ended') return { flow, outcome: flow.outcome }
  const outcome = await exchange(options, browser.userId, flow, parameters)
  const end = () => connect.flows.end(browser, flow, outcome)
  // Until it is stored, another visit waits for it.
  await end().catch(
    () => void retry(end).catch(() => log.warn('the outcome of a connect flow was not stored')),
  )
  return { flow, outcome }
}

/** Exchanges the code and stores the connection. */
async function exchange(
  { connect: { oauth, vault }, baseUrl, log }: ConnectRoutesOptions,
  userId: string,
  { id, bxcontext, codeVerifier }: Exchanging,
  { error, code, iss }: CallbackParameters,
): Promise<Outcome> {
  try {
    if (error !== undefined) throw consentFailure(error)
    if (code === undefined) throw new ConnectError('invalid_callback')
    const sent = { code, iss, redirectUri: redirectUrls(baseUrl)[1], bxcontext, codeVerifier }
    const connected = await workContext.run({ userId, flowId: id, bxcontext }, () =>
      vault.connect({ userId, bxcontext }, () => oauth.exchangeCode(sent)),
    )
    if (connected === 'pending') throw new ConnectError('not_saved_yet')
    if (connected === 'superseded')
      throw new ConnectError('exchange_incomplete', 'the account was disconnected meanwhile')
    return { connected: bxcontext }
  } catch (thrown) {
    const { code: failed, reason, status } = toConnectError(thrown)
    const level = thrown instanceof AppError && status !== 500 ? 'warn' : 'error'
    log[level]({ code: failed, reason, flow: id }, 'connect failed')
    return { failed }
  }
}

/**
 * Shows how a flow failed. The address has a code whose text is ours, and says nothing else on the page: a forged link can do no
 * harm. The bxcontext to reconnect counts only if it is one of this user.
 */
async function showFailure(
  { connect, pages }: ConnectRoutesOptions,
  req: Request,
  res: Response,
): Promise<void> {
  if (!pages.isSignedIn(req)) throw pages.signedOut()
  const { error: code, bxcontext, request } = req.query
  if (!isFailureCode(code)) {
    res.redirect(303, '/connections')
    return
  }
  const requestId = z.uuid().safeParse(request).data
  const expected = connect.platform.bxcontextSchema.safeParse(bxcontext).data
  const userId = pages.requireUser(req)
  // The page does not need the store: it may be the store that failed.
  const isKnown = expected && (await connect.vault.find({ userId, bxcontext: expected }).catch(() => null))
  throw new ConnectError(code, undefined, { requestId, expected: isKnown ? expected : undefined })
}

/** `expected`: the bxcontext to reconnect. */
function failedPath(code: FailureCode, expected: string | undefined): string {
  const request = requestContext.getStore()?.requestId
  const query = new URLSearchParams({
    error: code,
    ...(expected && { bxcontext: expected }),
    ...(request && { request }),
  })
  return `${FAILED_PATH}?${query}`
}

/** Handles an unexpected error of the callback, such as an unavailable store: the code still leaves the address bar. */
export const redirectFailedCallback =
  (log: Log): ErrorRequestHandler =>
  (error, req, res, next) => {
    const isCallback = req.method === 'GET' && req.path.toLowerCase().replace(/\/$/, '') === CALLBACK_PATH
    if (!isCallback || res.headersSent || error instanceof ConnectError) return next(error)
    const { code, reason } = (error ?? {}) as { code?: string; reason?: string }
    log.error({ code, reason }, 'connect failed')
    res.redirect(303, failedPath('exchange_incomplete', undefined))
  }

/** Throws an error for the developer without a session: flows of different browsers could not be told apart. */
function browserSession(req: Request & { sessionID?: string }, pages: ConnectPages): BrowserSession {
  const userId = pages.requireUser(req)
  const { sessionID } = req
  if (!sessionID) throw new Error('connectRoutes needs req.sessionID: use express-session before it')
  return { userId, session: createHash('sha256').update(sessionID).digest('base64url') }
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
 * Accepts top-level navigations only: an image or a frame on another site, or a prefetch, would use the flow up. Browsers that
 * do not send `Sec-Fetch-Dest` are accepted.
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
  iss: string | undefined
}

/** Null unless there is one state and either one code or one error. No parameter may come twice (RFC 6749 section 3.1). */
function callbackParameters({ query }: Request): CallbackParameters | null {
  const values = [query.state, query.code, query.error, query.iss].map((value) => value || undefined)
  const isValid = (value: unknown): value is string | undefined =>
    value === undefined || (typeof value === 'string' && value.length <= MAX_TOKEN_LENGTH)
  if (!values.every(isValid)) return null
  const [state, code, error, iss] = values
  const isAnswer = (code === undefined) !== (error === undefined)
  return state !== undefined && isAnswer ? { state, code, error, iss } : null
}

/** What an error means to the user of this flow. */
function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error
  if (!(error instanceof PlatformError))
    return new ConnectError('exchange_incomplete', error instanceof Error ? error.name : typeof error)
  const { code, reason } = error
  // `code_rejected`: the code is dead, or what this app sent with it is wrong. The log has the reason.
  if (error instanceof InvalidGrantError) return new ConnectError('code_rejected', reason)
  if (error instanceof PlatformUnavailableError)
    return new ConnectError(error.kind === 'refused' ? 'code_rejected' : error.code, reason)
  if (error instanceof ConfigurationError) return new ConnectError(error.code, reason)
  return new ConnectError('platform_rejected', reason ?? code)
}
