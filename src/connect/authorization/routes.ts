import { createHash } from 'node:crypto'
import { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from 'express'
import type { Logger } from 'pino'
import { contextSchema, START_PAGE } from '../platform/contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformUnavailableError,
} from '../platform/errors.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Vault } from '../vault/vault.ts'
import type {
  AuthorizationRequests,
  BrowserSession,
  Consent,
  Mismatch,
  PendingExchange,
} from './authorization-requests.ts'
import { ConnectError, consentFailure, type FailureCode, isFailureCode } from './errors.ts'

/** What this flow needs of the pages around it. */
export interface ConnectPages {
  /** The id of the signed-in user. Throws if no user is signed in. */
  requireUser(req: Request): string
  isSignedIn(req: Request): boolean
  /** The error for a flow whose user signed out before it finished. */
  signedOut(): Error
  /** Shows the connections, with the notice that one is connected. */
  showConnected(req: Request, res: Response): Promise<void>
  /** Asks whether the context that arrived is to be connected as well; the answer is posted to the same address. */
  askAboutMismatch(req: Request, res: Response, mismatch: Mismatch): void
}

export interface ConnectOptions {
  authorizationRequests: AuthorizationRequests
  oauth: OAuth
  vault: Pick<Vault, 'connect'>
  /** The public address of this app: where the platform sends the browser back to. */
  baseUrl: string
  pages: ConnectPages
  log: Logger
}

/** The two addresses of ours that the platform's support registers for this app. */
export const redirectUrls = (baseUrl: string) =>
  [`${baseUrl}/connect/context`, `${baseUrl}/connect/callback`] as const

const MAX_PARAMETER = 4096
const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const FAILED_PATH = '/connect/failed'
/** Carries a failure of this session to its page when the store cannot; no link can set it. */
const FAILED_COOKIE = 'connect_failed'
const FAILED_COOKIE_MS = 60_000

/**
 * The delegated flow as the browser sees it (specification 5.3): start, receive the context and ask for consent,
 * exchange the code. The callback always answers with a redirect, so that the code leaves the address bar.
 */
export function connectRoutes(options: ConnectOptions): Router {
  const { authorizationRequests, oauth, baseUrl, pages } = options
  const [contextUrl, redirectUri] = redirectUrls(baseUrl)
  const exchange = exchanger(options)
  const browserOf = (req: Request): BrowserSession => ({
    userId: pages.requireUser(req),
    session: sessionDigest(req),
  })
  const consentUrl = async (consent: Consent) => (await oauth.consentUrl({ ...consent, redirectUri })).href

  return (
    Router()
      .post('/connect', async (req, res) => {
        const browser = browserOf(req)
        await authorizationRequests.start(browser, expectedOf(req))
        res.redirect(303, oauth.startUrl(contextUrl).href)
      })

      // Each of these addresses is good for one visit, so a HEAD request (of a mail scanner, say) must not use it up.
      .head([CONTEXT_PATH, CALLBACK_PATH], (_req, res) => {
        res.status(405).set('Allow', 'GET').end()
      })

      .get(CONTEXT_PATH, topLevelOnly, async (req, res) => {
        const browser = browserOf(req)
        const context = contextSchema.safeParse(req.query[START_PAGE.context])
        if (!context.success) throw new ConnectError('invalid_context')
        const bound = await authorizationRequests.bindContext(browser, context.data)
        if ('id' in bound) res.redirect(303, `/connect/confirm/${bound.id}`)
        else res.redirect(303, await consentUrl(bound))
      })

      .get('/connect/confirm/:id', async (req, res) => {
        pages.askAboutMismatch(req, res, await authorizationRequests.mismatch(browserOf(req), req.params.id))
      })
      .post('/connect/confirm/:id', async (req, res) => {
        res.redirect(
          303,
          await consentUrl(await authorizationRequests.confirm(browserOf(req), req.params.id)),
        )
      })

      .get(CALLBACK_PATH, topLevelOnly, async (req, res) => {
        if (!pages.isSignedIn(req)) return res.redirect(303, FAILED_PATH)
        const browser = browserOf(req)
        let expected: string | undefined
        try {
          const answer = callbackParameters(req)
          const claimed = await authorizationRequests.claim(browser, answer.state)
          if ('end' in claimed) expected = claimed.expected
          const outcome = 'end' in claimed ? await exchange(req, browser.userId, claimed, answer) : claimed
          if ('failed' in outcome) throw new ConnectError(outcome.failed)
          res.clearCookie(FAILED_COOKIE, { path: FAILED_PATH })
          return await pages.showConnected(req, res)
        } catch (error) {
          if (!(error instanceof ConnectError)) throw error
          const { code, reason } = error
          res.locals.failure = { code, reason }
          // Nothing can be noted in the very store that does not accept anything.
          if (code === 'not_saved_yet') return leave(req, res, code)
          res.clearCookie(FAILED_COOKIE, { path: FAILED_PATH })
          await authorizationRequests.noteFailure(browser, { code, requestId: req.id, expected })
          return res.redirect(303, FAILED_PATH)
        }
      })

      .get(FAILED_PATH, async (req, res) => {
        if (!pages.isSignedIn(req)) throw pages.signedOut()
        const browser = browserOf(req)
        const pattern = new RegExp(`\\b${FAILED_COOKIE}=(\\w+)\\.([\\w-]+)`)
        const [, carried, session] = pattern.exec(req.get('cookie') ?? '') ?? []
        if (isFailureCode(carried) && session === browser.session) throw new ConnectError(carried)
        const failure = await authorizationRequests.lastFailure(browser)
        if (!isFailureCode(failure?.code)) return res.redirect(303, '/connections')
        throw new ConnectError(failure.code, undefined, failure)
      })
  )
}

/** An error of the callback that nothing can be noted of, such as a store that is away: the code leaves the address bar. */
export const leaveCallback: ErrorRequestHandler = (error, req, res, next) => {
  const isCallback = req.method === 'GET' && req.path.toLowerCase().replace(/\/$/, '') === CALLBACK_PATH
  if (!isCallback || res.headersSent || error instanceof ConnectError) return next(error)
  const { code, reason } = (error ?? {}) as { code?: string; reason?: string }
  req.log.error({ code, reason }, 'connect failed')
  leave(req, res, 'unfinished')
}

const sessionDigest = (req: Request) => createHash('sha256').update(req.sessionID).digest('base64url')

/** To the page of a failure that only the browser can remember. */
function leave(req: Request, res: Response, code: FailureCode): void {
  res.cookie(FAILED_COOKIE, `${code}.${sessionDigest(req)}`, {
    httpOnly: true,
    sameSite: 'lax',
    maxAge: FAILED_COOKIE_MS,
    path: FAILED_PATH,
  })
  res.redirect(303, FAILED_PATH)
}

/** The context that is to be reconnected, when the form names one. Throws `ConnectError` (`invalid_context`). */
function expectedOf(req: Request): string | undefined {
  const given = req.body?.[START_PAGE.context]
  if (given === undefined || given === '') return undefined
  const context = contextSchema.safeParse(given)
  if (!context.success) throw new ConnectError('invalid_context')
  return context.data
}

/**
 * The return addresses may be opened as a page only: an image or a frame of another site, or a page that a browser
 * fetches ahead, would use up the request. `Sec-Fetch-Dest` is absent where a browser does not send it.
 */
const topLevelOnly: RequestHandler = (req, _res, next) => {
  const destination = req.get('sec-fetch-dest') ?? 'document'
  if (destination !== 'document' || req.get('sec-purpose')?.includes('prefetch'))
    throw new ConnectError('not_a_navigation')
  next()
}

/** The exchange of a code that was claimed, and the record of how it ended. Throws `ConnectError`. */
function exchanger({ oauth, vault, baseUrl, log }: ConnectOptions) {
  return async (
    req: Request,
    userId: string,
    { context, codeVerifier, end }: PendingExchange,
    { state, error, code }: ReturnType<typeof callbackParameters>,
  ): Promise<{ connected: string }> => {
    try {
      if (error !== undefined) throw consentFailure(error)
      if (code === undefined) throw new ConnectError('invalid_callback')
      const callbackUrl = new URL(baseUrl + CALLBACK_PATH)
      callbackUrl.search = new URL(req.originalUrl, baseUrl).search
      const sentAt = Date.now()
      const tokens = await oauth.exchange({ callbackUrl, context, state, codeVerifier })
      if ((await vault.connect(userId, context, tokens, sentAt)) === 'pending')
        throw new ConnectError('not_saved_yet')
      // Recording the outcome is best effort: without it, opening this callback again says "unfinished".
      await end({ connected: context }).catch(() => {})
      return { connected: context }
    } catch (thrown) {
      const known = explain(thrown)
      const failure = known ?? new ConnectError('unfinished', (thrown as Error | null)?.name)
      const { code: failed, reason, status } = failure
      log[known && status !== 500 ? 'warn' : 'error']({ code: failed, reason }, 'connect failed')
      await end({ failed }).catch(() => {})
      throw failure
    }
  }
}

/** The answer of the consent page. Throws `ConnectError` when it is not one state with one code or error. */
function callbackParameters(req: Request) {
  const one = (name: string): string | undefined => {
    const value = req.query[name]
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' || value.length > MAX_PARAMETER) throw new ConnectError('invalid_callback')
    return value
  }
  const [state, code, error] = [one('state'), one('code'), one('error')]
  if (state === undefined || (code === undefined) === (error === undefined)) {
    throw new ConnectError('invalid_callback')
  }
  return { state, code, error }
}

/** The failure in this flow's words; null when it is not about the platform. */
function explain(failure: unknown): ConnectError | null {
  if (failure instanceof ConnectError) return failure
  if (failure instanceof InvalidGrantError) return new ConnectError('code_rejected')
  const { code, reason } = failure as Partial<PlatformError>
  if (failure instanceof PlatformUnavailableError) return new ConnectError('platform_unavailable', reason)
  if (failure instanceof ConfigurationError) return new ConnectError('misconfigured', reason)
  if (failure instanceof PlatformError) return new ConnectError('platform_rejected', reason ?? code)
  return null
}
