import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { ZodError } from 'zod'
import {
  AppError,
  type AppErrorOptions,
  ConnectError,
  ConnectionRevokedError,
  CoreError,
  type CoreErrorCode,
  DecryptionError,
  InsufficientScopeError,
  NotFoundError,
  PlatformError,
  PlatformUnavailableError,
} from '../connect/errors.ts'
import { noteFlow } from '../connect/index.ts'
import { unreadableText } from './connection-view.ts'
import { format } from './format.ts'
import { wantsJson } from './respond.ts'
import { localPath, pathOf } from './return-to.ts'
import { type ErrorText, texts } from './texts.ts'

type Code = keyof typeof texts.errors

/** Errors of the web layer; other layers have their own error classes. */
export class WebError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  /** `message`: what users read in place of the text of the code. Only the log has `options.reason`. */
  constructor(
    status: number,
    code: Code,
    message: string = texts.errors[code].detail,
    options?: AppErrorOptions,
  ) {
    super(message, options)
    this.status = status
    this.code = code
    this.title = texts.errors[code].title
  }
}

/** 401: no user is signed in. */
export const notSignedIn = (message?: string) => new WebError(401, 'unauthenticated', message)

/** 400: the sign-in was not completed. `reason`: for the log. */
export const signInFailed = (message: string, reason?: string) =>
  new WebError(400, 'sign_in_failed', message, { reason })

/** 400: invalid input. The message names the field and the rule. */
export const badInput = (field: string, rule: string) => new InvalidInputError(field, rule)

class InvalidInputError extends WebError {
  readonly rule: string
  constructor(field: string, rule: string) {
    super(400, 'invalid_input', texts.details.invalid(field, rule), { field })
    this.rule = rule
  }
}

/** What a user can do: connect again, grant a permission, try again, or sign in; null: nothing that would help. */
type NextStep = 'connect' | 'consent' | 'retry' | 'signIn' | null

interface Problem {
  status: number
  code: string
  title: string
  detail: string
  next: NextStep
  retryAfterMs?: number | undefined
  /** What is wrong with a field, without its name. */
  rule?: string | undefined
  /** Additional members of the problem document, such as `field`. */
  extensions?: Record<string, unknown>
}

const NEXT_STEPS: Record<CoreErrorCode, NextStep> = {
  not_connected: 'connect',
  connection_revoked: 'connect',
  grant_rejected: 'connect',
  record_decryption_failed: 'connect',
  insufficient_scope: 'consent',
  platform_unavailable: 'retry',
  store_unavailable: 'retry',
  refresh_too_soon: 'retry',
  // Repeating it could do it twice.
  outcome_unknown: null,
  platform_rejected: null,
  not_found: null,
  misconfigured: null,
}

function nextStepOf(error: AppError): NextStep {
  if (error instanceof CoreError) return NEXT_STEPS[error.code]
  if (error instanceof ConnectError) return 'connect'
  if (error.code === 'unauthenticated') return 'signIn'
  return error.code === 'internal_error' ? 'retry' : null
}

/** What users read about an error: the text for its code, or its own message. */
function textOf(error: AppError): ErrorText {
  if (error instanceof ConnectError) return texts.connectErrors[error.code]
  if (error instanceof PlatformUnavailableError && error.code === 'platform_unavailable')
    return texts.outages[error.kind]
  if (error instanceof CoreError && error.code !== 'platform_unavailable') {
    const { title, detail } = texts.coreErrors[error.code]
    return { title, detail: particularsOf(error) ?? detail }
  }
  return { title: error.title ?? texts.errors.internal_error.title, detail: error.message }
}

/** A detail that says more than the text of the code, if there is one. */
function particularsOf(error: CoreError): string | undefined {
  if (error instanceof NotFoundError) return error.text
  if (error instanceof DecryptionError) return unreadableText(error.missingKeyId ?? null)
  if (error instanceof InsufficientScopeError)
    return error.scopes.length > 0 ? texts.details.missingScopes(error.scopes) : undefined
  return error.field && texts.details.unexpectedFormat(error.field)
}

const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

/** Maps an error to a problem document. An unknown error becomes `internal_error`, whose text says nothing about it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ZodError) {
    const [issue] = error.issues
    const field = (issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.')) || 'input'
    return problemOf(badInput(field, issue?.message ?? texts.rules.invalid))
  }
  if (!(error instanceof AppError)) return problemOfExpress(error)
  const { status, code, field, details } = error
  const isRepeatable = code !== 'outcome_unknown'
  const retryAfterMs = isRepeatable ? (error.retryAfterMs ?? (status === 503 ? 1000 : undefined)) : undefined
  const { title, detail } = textOf(error)
  const saysWhen = error instanceof PlatformError && retryAfterMs !== undefined
  return {
    status,
    code,
    title,
    detail: saysWhen ? `${detail} ${texts.tryAgain(secondsOf(retryAfterMs))}` : detail,
    next: nextStepOf(error),
    retryAfterMs,
    rule: error instanceof InvalidInputError ? `${error.rule}.` : undefined,
    extensions: {
      ...(field !== undefined && { field }),
      ...details,
      ...(error instanceof ConnectionRevokedError && { revokedReason: texts.revocation[error.endReason] }),
    },
  }
}

/** Errors of Express and its body parsers: a malformed URL or body, or a body that is too large. */
function problemOfExpress(error: unknown): Problem {
  const { status, expose } = Object(error)
  const isOfClient = typeof status === 'number' && status >= 400 && status < 500
  if (!isOfClient || !(expose === true || error instanceof URIError))
    return { status: 500, code: 'internal_error', next: 'retry', ...texts.errors.internal_error }
  const code = status === 413 ? 'payload_too_large' : 'invalid_request'
  return { status, code, next: null, ...texts.errors[code] }
}

/** Throws 404 for every request. */
export const notFound: RequestHandler = () => {
  throw new WebError(404, 'not_found')
}

/** Sends an error as a page, or as `application/problem+json` (RFC 9457) with `code` and `requestId`. */
export const errorHandler: ErrorRequestHandler = (error, req, res, next) => {
  const problem = problemOf(error)
  const { status, code, title, extensions } = problem
  recordFailure(res, error, problem)
  if (res.headersSent) {
    // The response has started: abort it, so that a partial response doesn't look complete.
    if (!res.writableEnded) res.destroy()
    return
  }
  res.vary('Accept')
  setStatus(res, problem)
  if (wantsJson(req)) {
    res.type('application/problem+json').json({
      type: 'about:blank',
      title,
      status,
      detail: problem.detail,
      code,
      requestId: req.id,
      ...extensions,
    })
  } else {
    const page = { ...problem, lead: leadOf(problem), ...recovery(req, error, problem), requestId: req.id }
    res.loadSections('app/error').then((controls) => res.page('app/error', { ...page, controls }), next)
  }
}

function setStatus(res: Response, { status, retryAfterMs }: Problem): void {
  res.status(status)
  if (retryAfterMs !== undefined) res.set('Retry-After', String(secondsOf(retryAfterMs)))
}

/** Adds the failure to the request's log line. */
export function recordFailure(res: Response, error: unknown, answer: Pick<Problem, 'code' | 'status'>): void {
  if (error instanceof ConnectError && error.flowId !== undefined) noteFlow(error.flowId)
  const isKnown = error instanceof AppError
  const reason = isKnown ? error.reason : undefined
  // The message of an unknown error may contain secrets, so the log has only its type and location.
  const type = error instanceof Error ? error.name : typeof error
  const unknown = !isKnown && answer.status === 500 && { type, at: stackFrames(error) }
  res.locals.failure = { code: answer.code, ...(reason !== undefined && { reason }), ...unknown }
}

/** The text below the title of a page, which does not repeat the title. */
const leadOf = ({ title, detail }: Problem) =>
  detail.startsWith(`${title}.`) ? detail.slice(title.length + 1).trim() : detail

/** The state of a form that is shown again. */
export interface RejectedForm {
  /** The submitted values. */
  values: Record<string, unknown>
  message: string
  /** The message without the name of the field, to stand beside it. */
  rule: string
  /** The field that the message is about, if any. */
  field: string | null
  /** Whether the platform has not carried out the request. */
  unchanged: boolean
  /** Whether it may have done so, and the message does not say it. */
  mayBeDone: boolean
  /** Whether granting a missing permission would help. */
  needsConsent: boolean
  requestId: string
}

/**
 * Responds to a failed form submission. A browser gets the page again, with the submitted values and the message.
 * Rethrows the error for clients that request JSON, and if there is no user or connection to show the form for.
 */
export async function rejectForm(
  req: Request,
  res: Response,
  error: unknown,
  page: () => Promise<{ view: string; title: string; data: Record<string, unknown> }>,
): Promise<void> {
  const problem = problemOf(error)
  // Without a user or a connection, there is no page to show the form on.
  if (wantsJson(req) || problem.next === 'connect' || problem.next === 'signIn') throw error
  recordFailure(res, error, problem)
  const { view, title, data } = await page()
  setStatus(res, problem)
  res.vary('Accept')
  const field = typeof problem.extensions?.field === 'string' ? problem.extensions.field : null
  const isUnknown = problem.code === 'outcome_unknown'
  const unchanged = problem.status < 500 || (error instanceof PlatformError && !isUnknown)
  const form: RejectedForm = {
    values: req.body ?? {},
    message: problem.detail,
    rule: format.capital(problem.rule ?? problem.detail),
    field,
    unchanged,
    mayBeDone: !unchanged && !isUnknown,
    needsConsent: problem.next === 'consent',
    requestId: req.id,
  }
  res.page(view, { title, ...data, form })
}

/** The next steps on an error page: connect, or try again. */
function recovery(req: Request, error: unknown, { next }: Problem) {
  const connects = next === 'connect' || next === 'consent'
  // Error handlers have no access to route parameters, so this reads the path, which is still encoded.
  const [, segment] = /^\/connections\/([^/]+)/.exec(pathOf(req)) ?? []
  const ofPage = connects && segment ? decodeURIComponent(segment) : null
  // Refreshing shows whether access was revoked.
  const mayBeRevoked = error instanceof PlatformUnavailableError && error.kind === 'rejected' && segment
  return {
    recovery: connects ? 'connect' : next,
    refresh: mayBeRevoked ? `/connections/${segment}/refresh` : null,
    returnTo: pageOf(req) ?? '/connections',
    /** The business to connect. */
    bxcontext: error instanceof ConnectError ? (error.expected ?? null) : ofPage,
  }
}

/**
 * The page to return to: the one that was opened, or the one whose form was sent, as the browser names it. Null if there is none,
 * or if it is a page of the connect flow, which can be used only once.
 */
function pageOf(req: Request): string | null {
  const { host, pathname, search } = URL.parse(req.get('referer') ?? '') ?? {}
  const page = req.method === 'GET' ? req.originalUrl : host === req.host ? `${pathname}${search}` : null
  return page !== null && /^\/connect\/[^?]/i.test(page) ? null : localPath(page)
}

/** The first stack frames of an error, without its message. */
function stackFrames(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .map((line) => line.trim())
}
