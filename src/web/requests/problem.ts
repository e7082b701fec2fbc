/** Describes an error for users, in the same words on its page, beside a form and in JSON. */
import type { Response } from 'express'
import { ZodError } from 'zod'
import {
  AppError,
  ConnectError,
  ConnectionRevokedError,
  CoreError,
  type CoreErrorCode,
  DecryptionError,
  InsufficientScopeError,
  NotFoundError,
  PlatformError,
  PlatformUnavailableError,
} from '../../connect/errors.ts'
import { noteFlow } from '../../connect/index.ts'
import { type ErrorText, texts } from '../texts.ts'
import { badInput, InvalidInputError } from './errors.ts'

/** The next step for a user: connect again, grant a permission, try again, or sign in; null if none of these helps. */
type NextStep = 'connect' | 'consent' | 'retry' | 'signIn' | null

export interface Problem {
  status: number
  code: string
  title: string
  detail: string
  next: NextStep
  retryAfterMs?: number | undefined
  /** The rule that a field breaks, without the field's name. */
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
  // A repetition could carry out the call twice.
  outcome_unknown: null,
  platform_rejected: null,
  not_found: null,
  misconfigured: null,
}

function nextStepOf(error: AppError): NextStep {
  if (error instanceof CoreError) return NEXT_STEPS[error.code]
  // Another attempt would also fail until the app's developers correct the settings.
  if (error instanceof ConnectError) return error.status === 500 ? null : 'connect'
  if (error.code === 'unauthenticated') return 'signIn'
  return error.code === 'internal_error' ? 'retry' : null
}

/** The text for users about an error: that of its code, or the error's own message. */
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

/** A more precise detail than the text of the code, if there is one. */
function particularsOf(error: CoreError): string | undefined {
  if (error instanceof NotFoundError) return error.text
  if (error instanceof DecryptionError) return unreadableText(error.missingKeyId ?? null)
  if (error instanceof InsufficientScopeError)
    return error.scopes.length > 0 ? texts.details.missingScopes(error.scopes) : undefined
  return error.field && texts.details.unexpectedFormat(error.field)
}

/** Why a connection cannot be read. `missingKeyId`: the id of the missing key, if that is the reason. */
export const unreadableText = (missingKeyId: string | null): string =>
  missingKeyId === null
    ? texts.coreErrors.record_decryption_failed.detail
    : texts.summary.missingKey(missingKeyId)

const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

/** Maps an error to a problem document. An unknown error becomes `internal_error`, without details. */
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

/** Sets the status of the response, and its `Retry-After` header. */
export function setStatus(res: Response, { status, retryAfterMs }: Problem): void {
  res.status(status)
  if (retryAfterMs !== undefined) res.set('Retry-After', String(secondsOf(retryAfterMs)))
}

/** Adds the failure to the request's log line. */
export function recordFailure(res: Response, error: unknown, answer: Pick<Problem, 'code' | 'status'>): void {
  if (error instanceof ConnectError && error.flowId !== undefined) noteFlow(error.flowId)
  const isKnown = error instanceof AppError
  const reason = isKnown ? error.reason : undefined
  // The message of an unknown error may contain secrets, so log only its type and location.
  const type = error instanceof Error ? error.name : typeof error
  const unknown = !isKnown && answer.status === 500 && { type, at: stackFrames(error) }
  res.locals.failure = { code: answer.code, ...(reason !== undefined && { reason }), ...unknown }
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
