import { AppError } from '../app-error.ts'

/**
 * A connect flow that failed. Each code has a text on the error page, which some codes share. There, signed-in users can start again, unless the
 * status is 500, because then only a change of the settings helps.
 */
export class ConnectError extends AppError {
  readonly code: FailureCode
  readonly status: number
  readonly title = null
  /** The id of the flow, if it is known. The problem document includes it too. */
  readonly flowId: string | undefined
  /** The bxcontext to reconnect. */
  readonly expected: string | undefined

  constructor(code: FailureCode, reason?: string, flow?: { id: string; expected?: string | undefined }) {
    super(`the connect flow failed (${code})`, { reason, ...(flow && { details: { flow: flow.id } }) })
    this.code = code
    this.status = FAILURES[code]
    this.flowId = flow?.id
    this.expected = flow?.expected
  }
}

/** Why a connect flow failed, with the HTTP status of each failure page. The pages have the texts for users. */
const FAILURES = {
  invalid_bxcontext: 400,
  missing_authorization_request: 400,
  invalid_callback: 400,
  invalid_state: 400,
  consent_denied: 403,
  consent_expired: 400,
  code_rejected: 400,
  not_a_navigation: 400,
  not_saved_yet: 503,
  exchange_incomplete: 503,
  too_many_connections: 409,
  platform_unavailable: 503,
  platform_rejected: 502,
  misconfigured: 500,
  consent_unavailable: 502,
  consent_misconfigured: 500,
} as const

export type FailureCode = keyof typeof FAILURES

export const isFailureCode = (code: unknown): code is FailureCode =>
  typeof code === 'string' && Object.hasOwn(FAILURES, code)

/** The codes for an incorrect request of this app (RFC 6749 section 4.1.2.1, RFC 8707 section 2). */
const OURS = /^(invalid_(request|scope|target)|unauthorized_client|unsupported_response_type)$/

/**
 * The codes for a user who did not give consent, or has to act first: RFC 6749 section 4.1.2.1, OpenID Connect Core 1.0 section
 * 3.1.2.6, and the codes that LinkedIn and others send if the user cancels.
 */
const NOT_GRANTED =
  /^(access_denied|user_(cancelled|canceled|denied)(_(login|authorize|authorization))?|(consent|login|interaction|account_selection)_required)$/

/** Maps the `error` parameter of the callback to a `ConnectError`. */
export function consentFailure(error: string): ConnectError {
  if (NOT_GRANTED.test(error)) return new ConnectError('consent_denied', `the consent page returned ${error}`)
  // Anyone can open the callback with any text in `error`.
  const name = /^[a-z_]{1,50}$/.test(error) ? error : 'an unknown error code'
  const code = OURS.test(error) ? 'consent_misconfigured' : 'consent_unavailable'
  return new ConnectError(code, `the consent page returned ${name}`)
}
