import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { ZodError } from 'zod'
import { AppError } from '../connect/app-error.ts'
import { ConnectError } from '../connect/authorization/errors.ts'
import {
  type OutageKind,
  PlatformUnavailableError,
  RefreshedRecentlyError,
} from '../connect/platform/errors.ts'
import { wantsJson } from './respond.ts'
import { localPath } from './return-to.ts'

/** Errors of the pages themselves; the others come from the parts they belong to. */
export class WebError extends AppError {
  readonly code: string
  readonly status: number
  /** `field`: the field of the input that is wrong. */
  constructor(status: number, code: string, message: string, field?: string) {
    super(message, { field })
    this.status = status
    this.code = code
  }
}

/** Nobody is signed in. */
export const notSignedIn = (message = 'Please sign in to continue.') =>
  new WebError(401, 'unauthenticated', message)

/** Input of ours is wrong; the message names the field and what it takes. */
export const badInput = (field: string, rule: string) =>
  new WebError(400, 'invalid_input', `${field}: ${rule}.`, field)

interface Problem {
  status: number
  code: string
  title: string
  detail: string
  retryAfterMs?: number | undefined
  /** Further members of the problem document: the field, the scope. */
  more?: Record<string, unknown>
}

export const TITLES: Record<string, string> = {
  unauthenticated: 'Please sign in',
  not_connected: 'Not connected',
  connection_revoked: 'Access was revoked',
  insufficient_scope: 'A permission is missing',
  platform_unavailable: "The platform isn't responding",
  refresh_too_soon: 'Refreshed a moment ago',
  platform_rejected: 'The platform rejected this request',
  misconfigured: 'This app is not set up correctly',
  store_unavailable: 'Service unavailable',
  record_decryption_failed: 'This connection cannot be read',
  invalid_input: 'Please check your input',
  csrf_rejected: 'Request from another site',
  not_found: 'Not found',
  payload_too_large: 'Too large',
  request_timeout: 'Request timeout',
  invalid_request: 'Bad request',
  invalid_bxcontext: 'The connection could not be started',
  missing_authorization_request: 'No connection was started here',
  invalid_callback: 'The connection could not be finished',
  invalid_state: 'The connection could not be finished',
  consent_denied: 'Access was not granted',
  not_a_navigation: 'The connection could not be finished',
  not_saved_yet: 'Not saved yet',
  code_rejected: 'The connection could not be finished',
  exchange_incomplete: 'The connection was interrupted',
  consent_unavailable: 'The platform reported a fault',
  consent_misconfigured: 'The platform rejected this app',
  internal_error: 'Something went wrong',
}

const INTERNAL = 'Something went wrong on our side. It has been logged. Please try again.'

const OUTAGE_TITLES: Record<OutageKind, string> = {
  no_answer: "The platform isn't responding",
  error: 'The platform returned an error',
  busy: 'The platform is busy',
  unreadable: 'The platform sent something we could not read',
  paused: 'The platform is not available right now',
  rejected: 'The platform rejected the access token',
}

/** Maps an error to a problem document; unknown errors become `internal_error` without detail. */
export function problemOf(error: unknown): Problem {
  if (error instanceof AppError) {
    const { status, code, retryAfterMs, field, details, title: own } = error
    const detail = error.expose ? error.message : INTERNAL
    const title =
      error instanceof PlatformUnavailableError ? OUTAGE_TITLES[error.kind] : (own ?? TITLES[code])
    const more = field === undefined ? details : { field, ...details }
    return { status, code, title: title ?? 'Something went wrong', detail, retryAfterMs, more }
  }
  if (error instanceof ZodError) {
    const [issue] = error.issues
    const field = (issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.')) || 'input'
    return problemOf(badInput(field, issue?.message ?? 'is not valid'))
  }
  // What Express and its body parsers throw: a malformed url or body, or one that is too large.
  const { status, expose } = (error ?? {}) as { status?: unknown; expose?: unknown }
  if (
    typeof status === 'number' &&
    status >= 400 &&
    status < 500 &&
    (expose === true || error instanceof URIError)
  ) {
    const code = status === 413 ? 'payload_too_large' : 'invalid_request'
    const detail = status === 413 ? 'This is larger than we accept.' : 'The request could not be read.'
    return { status, code, title: TITLES[code] ?? '', detail }
  }
  return {
    status: 500,
    code: 'internal_error',
    title: 'Something went wrong',
    detail: INTERNAL,
  }
}

export const notFound: RequestHandler = () => {
  throw new WebError(404, 'not_found', 'There is no page at this address.')
}

/** Answers an error as a page, or as `application/problem+json` (RFC 9457) with `code` and `requestId`. */
export const errorHandler: ErrorRequestHandler = (error, req, res, _next) => {
  const problem = problemOf(error)
  const { status, code, title, detail, more } = problem
  noteFailure(res, error, problem)
  if (res.headersSent) {
    // Too late for an answer; what is half-sent must not look whole.
    if (!res.writableEnded) res.destroy()
    return
  }
  answerStatus(res, problem)
  if (req.method === 'GET' && error instanceof PlatformUnavailableError && WAITING.has(error.kind)) {
    // The page says that it is tried again: the browser does so.
    res.set('Refresh', String(Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))))
  }
  res.vary('Accept')
  const requestId = error instanceof ConnectError ? (error.requestId ?? req.id) : req.id
  if (wantsJson(req)) {
    res
      .type('application/problem+json')
      .json({ type: 'about:blank', title, status, detail, code, requestId, ...more })
  } else {
    res.page('app/error', { ...problem, ...recovery(req, error, code), requestId })
  }
}

function answerStatus(res: Response, { status, retryAfterMs }: Problem): void {
  res.status(status)
  if (retryAfterMs !== undefined) res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
}

/** For the request's log line. */
function noteFailure(res: Response, error: unknown, { status, code }: Problem): void {
  res.locals.failure = { code }
  if (status < 500) return
  if (error instanceof AppError) res.locals.failure.reason = error.reason
  // An unknown error's message may hold anything, so only its type and place are logged.
  if (code === 'internal_error') {
    res.locals.failure.type = error instanceof Error ? error.name : typeof error
    res.locals.failure.at = placeOf(error)
  }
}

/** Outages that end after a time that we know. */
const WAITING = new Set<OutageKind>(['paused', 'rejected'])

/** What a form shows when it comes back. */
export interface RejectedForm {
  /** What was typed. */
  values: Record<string, unknown>
  message: string
  /** The field that the message is about, when it is about one. */
  field: string | null
  /** False when the platform may have carried it out all the same. */
  unchanged: boolean
  /** Whether connecting again, with the missing permission, would help. */
  needsConsent: boolean
  requestId: string
}

/**
 * Answers a form that could not be carried out: a browser gets its page again, with what was typed and the message; a
 * client that asks for JSON gets the error. Without a user or a connection there is no form to come back to.
 */
export async function rejectForm(
  req: Request,
  res: Response,
  error: unknown,
  page: () => Promise<{ view: string; title: string; data: Record<string, unknown> }>,
): Promise<void> {
  const problem = problemOf(error)
  if (wantsJson(req) || NO_FORM.has(problem.code)) throw error
  noteFailure(res, error, problem)
  const { view, title, data } = await page()
  answerStatus(res, problem)
  res.vary('Accept')
  const field = typeof problem.more?.field === 'string' ? problem.more.field : null
  // Beside its field, a message need not name it.
  const words =
    field && problem.detail.startsWith(`${field}: `) ? problem.detail.slice(field.length + 2) : problem.detail
  const message = words.charAt(0).toUpperCase() + words.slice(1)
  const form: RejectedForm = {
    values: req.body ?? {},
    message,
    field,
    unchanged: problem.status < 500,
    needsConsent: problem.code === 'insufficient_scope',
    requestId: req.id,
  }
  res.page(view, { title, ...data, form })
}

const NO_FORM = new Set([
  'unauthenticated',
  'not_connected',
  'connection_revoked',
  'record_decryption_failed',
])
const CONNECT_AGAIN = new Set([
  'not_connected',
  'connection_revoked',
  'insufficient_scope',
  'record_decryption_failed',
])
const TRY_AGAIN = new Set(['platform_unavailable', 'store_unavailable', 'internal_error', 'refresh_too_soon'])

/**
 * What an error page offers: to connect, the same page again, or the same form again. A url of the connect flow is never
 * offered: it is used up.
 */
function recovery(req: Request, error: unknown, code: string) {
  const reload = req.method === 'GET' && !req.path.toLowerCase().startsWith('/connect/')
  const here = (reload && localPath(req.originalUrl)) || '/connections'
  const action =
    error instanceof ConnectError || CONNECT_AGAIN.has(code)
      ? 'connect'
      : TRY_AGAIN.has(code)
        ? 'retry'
        : null
  return {
    recovery: action,
    retry: here,
    resubmit: action === 'retry' ? resubmitOf(req) : null,
    refresh: error instanceof RefreshedRecentlyError ? refreshAction(req) : null,
    returnTo: here,
    // Connecting again should reconnect the same business.
    bxcontext: bxcontextToReconnect(req, error, code),
  }
}

function bxcontextToReconnect(req: Request, error: unknown, code: string): string | null {
  if (error instanceof ConnectError) return error.expected ?? null
  const segment = CONNECT_AGAIN.has(code) ? bxcontextSegment(req) : undefined
  return segment === undefined ? null : decodeURIComponent(segment)
}

/** Where a user can refresh the token at once, which shows whether access was revoked. */
function refreshAction(req: Request): string | null {
  const segment = bxcontextSegment(req)
  return segment === undefined ? null : `/connections/${segment}/refresh`
}

/** The bxcontext of the address, encoded: the error handler does not get the parameters of the route. */
const bxcontextSegment = (req: Request) => /^\/connections\/([^/]+)/.exec(req.path)?.[1]

/** A form that can be sent once more as it was. An uploaded file cannot: the browser does not hand it out again. */
function resubmitOf(req: Request): { action: string; fields: [string, string][] } | null {
  const action = req.method === 'POST' ? localPath(req.originalUrl) : null
  if (!action || req.is('multipart/form-data')) return null
  const fields = Object.entries((req.body ?? {}) as Record<string, unknown>)
  return { action, fields: fields.filter((field): field is [string, string] => typeof field[1] === 'string') }
}

/** Where an error was thrown, as stack frames without its message. */
function placeOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim())
}
