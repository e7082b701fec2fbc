import { AppError } from '../app-error.ts'

/** A connect flow that failed. Each code has its own message, on a page that offers a way to start again. */
export class ConnectError extends AppError {
  readonly code: FailureCode
  readonly status: number
  /** The id of the HTTP request that failed, if a later one shows the failure. */
  readonly requestId: string | undefined
  /** The bxcontext to reconnect. */
  readonly expected: string | undefined

  constructor(
    code: FailureCode,
    reason?: string,
    shown: { requestId?: string | undefined; expected?: string | undefined } = {},
  ) {
    const { message, status } = FAILURES[code]
    super(message, { reason, retryAfterMs: status === 503 ? 1000 : undefined })
    this.code = code
    this.status = status
    this.requestId = shown.requestId
    this.expected = shown.expected
  }
}

const FAILURES = {
  invalid_bxcontext: {
    status: 400,
    message: 'The platform sent the browser back without a usable bxcontext parameter. Please connect again.',
  },
  missing_authorization_request: {
    status: 400,
    message:
      'No connection was started in this browser in the last 15 minutes, or it has already finished. Please connect again.',
  },
  invalid_callback: {
    status: 400,
    message:
      'The platform sent the browser back with an incomplete address: it must have one state and one code or error. Please connect again.',
  },
  invalid_state: {
    status: 400,
    message:
      'This consent does not belong to a connection that you started in this browser, it has expired, or you have chosen another business since.',
  },
  consent_denied: {
    status: 403,
    message: 'Access was not granted on the consent page, so nothing was connected.',
  },
  code_rejected: {
    status: 400,
    message:
      'The platform did not accept the code of this consent: it may have been used already or have expired. Please connect again.',
  },
  not_a_navigation: {
    status: 400,
    message: 'Open this address in its own tab: it cannot be part of another page.',
  },
  not_saved_yet: {
    status: 503,
    message:
      "The platform granted access, but this app's data store did not accept it yet. The app keeps trying for ten minutes. Check your connections in a minute; if the account is not listed, connect it again.",
  },
  exchange_incomplete: {
    status: 503,
    message:
      'This connection was interrupted before it was finished. Check your connections; if the account is not listed, connect it again.',
  },
  platform_unavailable: {
    status: 503,
    message:
      'The platform did not give this app its tokens: it did not respond, or returned an error. Nothing was stored; please connect again.',
  },
  platform_rejected: {
    status: 502,
    message:
      "The platform's answer does not match the connection that was requested. Nothing was stored; please connect again.",
  },
  misconfigured: {
    status: 500,
    message:
      "The platform rejects this app's credentials. This has been logged for its developers; nothing was stored.",
  },
  consent_unavailable: {
    status: 502,
    message: "The platform's consent page reported an error. Nothing was stored; please try again.",
  },
  consent_misconfigured: {
    status: 500,
    message:
      "The platform rejected this app's authorization request. This has been logged for its developers; nothing was stored.",
  },
} as const satisfies Record<string, { status: number; message: string }>

export type FailureCode = keyof typeof FAILURES
export const FAILURE_CODES = Object.keys(FAILURES) as FailureCode[]

export const isFailureCode = (code: unknown): code is FailureCode =>
  typeof code === 'string' && Object.hasOwn(FAILURES, code)

/** RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6, RFC 8707 section 2. */
const KNOWN_ERRORS = new Set(
  [
    'invalid_request unauthorized_client access_denied unsupported_response_type invalid_scope server_error',
    'temporarily_unavailable interaction_required login_required account_selection_required consent_required',
    'invalid_request_uri invalid_request_object request_not_supported invalid_target',
  ].flatMap((names) => names.split(' ')),
)

/** Maps the `error` parameter of the callback (RFC 6749 section 4.1.2.1) to an error of ours. */
export function consentFailure(error: string): ConnectError {
  if (error === 'access_denied') return new ConnectError('consent_denied')
  const temporary = error === 'server_error' || error === 'temporarily_unavailable'
  // Anyone can open the callback with any error: an unknown code is not logged, and says nothing about this app.
  if (temporary || !KNOWN_ERRORS.has(error))
    return new ConnectError(
      'consent_unavailable',
      `the consent page returned ${temporary ? error : 'an unknown error code'}`,
    )
  return new ConnectError('consent_misconfigured', `the consent page returned ${error}`)
}
