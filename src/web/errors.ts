import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { ZodError } from 'zod'
import { ConnectFailure } from '../connect/failure.ts'
import { FileUnreadable } from '../imports/encoding.ts'
import { ImportRefused } from '../imports/refused.ts'
import { PlatformError } from '../platform/errors.ts'
import { StoreUnavailable } from '../store/store.ts'
import { SealBroken } from '../vault/seal.ts'
import { WebhookRefused } from '../webhooks/routes.ts'
import { wantsJson } from './respond.ts'
import { localPath } from './return-to.ts'

/** Errors of the pages themselves; the others come from the parts they belong to. */
export class WebError extends Error {
  readonly code: string
  readonly status: number
  /** The field of the input that is wrong. */
  readonly field: string | undefined
  constructor(status: number, code: string, message: string, field?: string) {
    super(message)
    this.name = 'WebError'
    this.status = status
    this.code = code
    this.field = field
  }
}

/** Nobody is signed in. */
export const notSignedIn = () => new WebError(401, 'not_signed_in', 'Please sign in to go on.')

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
  not_signed_in: 'Please sign in',
  not_connected: 'Not connected',
  connection_revoked: 'Access was revoked',
  scope_missing: 'A permission is missing',
  platform_unavailable: 'The platform does not answer',
  platform_rejected: 'The platform refused this',
  misconfigured: 'This app is not set up correctly',
  store_unavailable: 'One moment, please',
  record_unreadable: 'This connection cannot be read',
  invalid_input: 'Please check your input',
  cross_site_request: 'Request from another site',
  not_found: 'Not found',
  too_large: 'Too large',
  too_slow: 'Too slow',
  invalid_request: 'Bad request',
  file_unreadable: 'This file cannot be read',
  unsupported_type: 'Not the right kind of file',
  import_state: 'Not just now',
  import_failed: 'The import was not completed',
  webhook_off: 'No webhook here',
  invalid_signature: 'The signature does not fit',
  invalid_event: 'Not an event',
  invalid_context: 'The connection could not be started',
  no_attempt: 'No connection was started here',
  invalid_callback: 'The connection could not be finished',
  unknown_attempt: 'The connection could not be finished',
  consent_denied: 'Access was not granted',
  code_rejected: 'The connection could not be finished',
  unfinished: 'The connection was interrupted',
  consent_unavailable: 'The platform reported a fault',
  consent_misconfigured: 'The platform refused this app',
  internal_error: 'Something went wrong',
}

/** Every error's public face; whatever we do not know becomes `internal_error` and tells nothing. */
function problemOf(error: unknown): Problem {
  const known =
    error instanceof WebError ||
    error instanceof ConnectFailure ||
    error instanceof PlatformError ||
    error instanceof StoreUnavailable ||
    error instanceof SealBroken ||
    error instanceof FileUnreadable ||
    error instanceof ImportRefused ||
    error instanceof WebhookRefused
  if (known) {
    const { status, code, message: detail } = error
    return {
      ...{ status, code, detail, title: TITLES[code] ?? 'Something went wrong' },
      retryAfterMs: 'retryAfterMs' in error ? error.retryAfterMs : undefined,
      more: {
        ...('field' in error && { field: error.field }),
        ...('scope' in error && { scope: error.scope }),
        ...('revokedAt' in error && { revokedAt: error.revokedAt }),
        ...('revokedBecause' in error && { revokedBecause: error.revokedBecause }),
      },
    }
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
    const code = status === 413 ? 'too_large' : 'invalid_request'
    const detail = status === 413 ? 'This is larger than we accept.' : 'The request could not be read.'
    return { status, code, title: TITLES[code] ?? '', detail }
  }
  return {
    ...{ status: 500, code: 'internal_error', title: 'Something went wrong' },
    detail: 'The fault is ours and has been noted. Please try again.',
  }
}

export const notFound: RequestHandler = () => {
  throw new WebError(404, 'not_found', 'There is no page at this address.')
}

/** Answers an error as a page, or as `application/problem+json` (RFC 9457) with `code` and `requestId`. */
export const errorHandler: ErrorRequestHandler = (error, req, res, _next) => {
  const problem = problemOf(error)
  const { status, code, title, detail, retryAfterMs, more } = problem
  if (status >= 500) {
    // An unknown error's message may hold anything, so only its type and place are logged.
    const unknown = code === 'internal_error' && { type: error?.name, at: placeOf(error) }
    const reason = error instanceof SealBroken ? error.message : (error as { reason?: string } | null)?.reason
    req.log.error({ requestId: req.id, code, reason, ...unknown }, 'request failed')
  }
  if (res.headersSent) {
    // Too late for an answer; what is half-sent must not look whole.
    if (!res.writableEnded) res.destroy()
    return
  }
  res.status(status)
  if (retryAfterMs !== undefined) res.set('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  res.vary('Accept')
  const requestId = req.id
  if (wantsJson(req)) {
    res
      .type('application/problem+json')
      .json({ type: 'about:blank', title, status, detail, code, requestId, ...more })
  } else {
    res.page('error', { ...problem, ...wayOn(req, error, code), requestId })
  }
}

const CONNECT_AGAIN = new Set(['not_connected', 'connection_revoked', 'scope_missing', 'record_unreadable'])
const TRY_AGAIN = new Set(['platform_unavailable', 'store_unavailable', 'internal_error'])

/** What an error page offers: connect, or the same page again. A url of the connect flow is never offered: it is used up. */
function wayOn(req: Request, error: unknown, code: string) {
  const again = req.method === 'GET' && !req.path.toLowerCase().startsWith('/connect/')
  const here = (again && localPath(req.originalUrl)) || '/connections'
  return {
    wayOn:
      error instanceof ConnectFailure || CONNECT_AGAIN.has(code)
        ? 'connect'
        : TRY_AGAIN.has(code)
          ? 'retry'
          : null,
    retry: here,
    returnTo: here,
  }
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
