/** Step 3 of the connect flow: the callback, which exchanges the code, and the page of a flow that failed. */
import type { ErrorRequestHandler, Request, Response } from 'express'
import * as z from 'zod'
import { AppError } from '../app-error.ts'
import { requestContext, workContext } from '../context.ts'
import type { Log } from '../log.ts'
import { MAX_TOKEN_LENGTH } from '../platform/contract.ts'
import {
  ConfigurationError,
  InvalidGrantError,
  PlatformError,
  PlatformUnavailableError,
} from '../platform/errors.ts'
import { retry } from '../retry.ts'
import { ConnectError, consentFailure, type FailureCode, isFailureCode } from './errors.ts'
import type { BrowserSession } from './flow-records.ts'
import type { Exchanging, Flow, Outcome } from './flows.ts'
import { redirectUrls } from './redirect-urls.ts'
import { arrival, type ConnectRoutesOptions } from './visit.ts'

const CALLBACK_PATH = redirectUrls('')[1]
const FAILED_PATH = '/connect/failed'

/** Shows how the flow of this callback ended, at an address without the code. */
export async function handleCallback(
  options: ConnectRoutesOptions,
  req: Request,
  res: Response,
): Promise<void> {
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
export async function showFailure(
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
    const { code, reason } = Object(error)
    log.error({ code, reason }, 'connect failed')
    res.redirect(303, failedPath('exchange_incomplete', undefined))
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
