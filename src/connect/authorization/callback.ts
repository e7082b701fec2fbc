/**
 * Step 3 of the connect flow: the requests to the callback.
 *
 * 1. `handleCallback`: a visitor who is not signed in goes to the failure page.
 * 2. `endFlow`: the first visit claims the flow of the `state`. Later visits, in any process, wait for its outcome.
 * 3. `exchange`: the first visit sends the code and stores the connection. Then `endFlow` stores the outcome in the flow.
 * 4. Every visit redirects to the connections or to `FAILED_PATH`, so that the code disappears from the address bar.
 *    `redirectFailedCallback` does the same for unexpected errors.
 * 5. `showFailure`: shows the page of a failure, which can be reloaded.
 */
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import * as z from 'zod'
import { AppError } from '../app-error.ts'
import { noteFlow, requestContext, workContext } from '../context.ts'
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
import { type Exchanging, type Flow, flowOf, NO_FLOWS, type Outcome } from './flows.ts'
import { redirectUrls } from './redirect-urls.ts'
import { browserSession, type ConnectRoutesOptions } from './visit.ts'

const CALLBACK_PATH = redirectUrls('')[1]
const FAILED_PATH = '/connect/failed'

/** Ends the flow of this callback, and redirects to the page of its outcome, whose address doesn't contain the code. */
export const handleCallback =
  (options: ConnectRoutesOptions): RequestHandler =>
  async (req, res) => {
    const { pages } = options
    if (!pages.isSignedIn(req)) return leave(res, FAILED_PATH)
    const { flow, outcome } = await endFlow(options, req, browserSession(req, pages))
    if ('connected' in outcome) return leave(res, await pages.connectedPage(req, outcome.connected))
    res.locals.failure = { code: outcome.failed }
    leave(res, failedPath(outcome.failed, flow?.id))
  }

/** Redirects to an address without the code. The next page must not learn this one (RFC 9700 section 4.2.4). */
const leave = (res: Response, path: string) => res.set('Referrer-Policy', 'no-referrer').redirect(303, path)

/** Resolves to the outcome of the flow. */
async function endFlow(
  options: ConnectRoutesOptions,
  req: Request,
  browser: BrowserSession,
): Promise<{ flow?: Flow; outcome: Outcome }> {
  const { connect, log } = options
  const parameters = callbackSchema.safeParse(req.query).data
  if (!parameters) return { outcome: { failed: 'invalid_callback' } }
  const flow = await connect.flows.claim(browser, parameters.state)
  if (!flow) return { outcome: { failed: 'invalid_state' } }
  noteFlow(flow.id)
  if (flow.phase === 'ended') return { flow, outcome: flow.outcome }
  const outcome = await exchange(options, browser.userId, flow, parameters)
  const end = () => connect.flows.end(browser, flow, outcome)
  // Other visits wait until the outcome is stored. If the store fails, this tries again in the background.
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
  { error, code, iss }: z.infer<typeof callbackSchema>,
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
      throw new ConnectError(
        'exchange_incomplete',
        'the account was disconnected, or its access ended, in the meantime',
      )
    return { connected: bxcontext }
  } catch (thrown) {
    const { code: failed, reason, status } = toConnectError(thrown)
    const level = thrown instanceof AppError && status !== 500 ? 'warn' : 'error'
    log[level]({ code: failed, reason }, 'connect failed')
    return { failed }
  }
}

/**
 * Shows why a flow failed. The address contains the failure's code and the flow's id. A forged link is harmless: the texts are
 * ours, and an id is ignored unless it belongs to a flow of this session.
 */
export const showFailure =
  ({ connect, pages }: ConnectRoutesOptions): RequestHandler =>
  async (req, res) => {
    pages.requireUser(req)
    const { error: code, flow: id } = req.query
    if (!isFailureCode(code)) return res.redirect(303, '/connections')
    // The page also works without the store, because the store may be the cause.
    const record = await connect.flows.read(browserSession(req, pages)).catch(() => NO_FLOWS)
    throw new ConnectError(code, undefined, flowOf(record, String(id)))
  }

const failedPath = (code: FailureCode, flow: string | undefined): string =>
  `${FAILED_PATH}?${new URLSearchParams({ error: code, ...(flow && { flow }) })}`

/** Handles an unexpected error of the callback, such as an unavailable store, and still removes the code from the address bar. */
export const redirectFailedCallback =
  (log: Log): ErrorRequestHandler =>
  (error, req, res, next) => {
    const isCallback = req.method === 'GET' && req.path.toLowerCase().replace(/\/$/, '') === CALLBACK_PATH
    if (!isCallback || res.headersSent || error instanceof ConnectError) return next(error)
    const { code, reason } = Object(error)
    log.error({ code, reason }, 'connect failed')
    leave(res, failedPath('exchange_incomplete', requestContext.getStore()?.flowId))
  }

const parameter = z.string().max(MAX_TOKEN_LENGTH)
const optional = parameter.transform((value) => value || undefined).optional()
/** One state, and either one code or one error. No parameter may occur twice (RFC 6749 section 3.1). */
const callbackSchema = z
  .object({ state: parameter.min(1), code: optional, error: optional, iss: optional })
  .refine(({ code, error }) => (code === undefined) !== (error === undefined))

/** Maps an error to the failure that the user of this flow sees. */
function toConnectError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error
  if (!(error instanceof PlatformError))
    return new ConnectError('exchange_incomplete', error instanceof Error ? error.name : typeof error)
  const { code, reason } = error
  // `code_rejected`: the code is no longer valid, or this app sent a wrong value with it. See the log for the reason.
  if (error instanceof InvalidGrantError) return new ConnectError('code_rejected', reason)
  if (error instanceof PlatformUnavailableError)
    return new ConnectError(error.kind === 'refused' ? 'code_rejected' : 'platform_unavailable', reason)
  if (error instanceof ConfigurationError) return new ConnectError(error.code, reason)
  return new ConnectError('platform_rejected', reason ?? code)
}
