/** A connect flow that cannot go on; each code has a page of its own with a way to start again. */
export class ConnectFailure extends Error {
  readonly code: FailureCode
  readonly status: number
  /** When it is worth trying again, in ms from now. */
  readonly retryAfterMs?: number
  /** For the log: what happened, in words of ours or a code of the platform's. */
  readonly reason: string | undefined

  constructor(code: FailureCode, reason?: string) {
    super(FAILURES[code].message)
    this.name = 'ConnectFailure'
    this.code = code
    this.status = FAILURES[code].status
    this.reason = reason
    if (this.status === 503) this.retryAfterMs = 1000
  }
}

const FAILURES = {
  invalid_context: {
    status: 400,
    message: 'The platform sent the browser back without a usable bxcontext parameter. Please connect again.',
  },
  no_attempt: {
    status: 400,
    message:
      'No connection was started in this browser in the last 15 minutes, or it was finished already. Please connect again.',
  },
  invalid_callback: {
    status: 400,
    message: 'The address of this page is incomplete: it needs one state and one code. Please connect again.',
  },
  unknown_attempt: {
    status: 400,
    message:
      'This consent does not belong to a connection that you started in this browser, or it is too old.',
  },
  consent_denied: {
    status: 403,
    message: 'Access was not granted on the consent page, so nothing was connected.',
  },
  code_rejected: {
    status: 400,
    message:
      'The platform did not accept the consent: its code was used already or is too old. Please connect again.',
  },
  unfinished: {
    status: 503,
    message:
      'This connection was interrupted before it was finished. Unless it is among your connections, please connect again.',
  },
  platform_unavailable: {
    status: 503,
    message:
      'The platform did not answer while the account was being connected. Nothing was stored; please connect again.',
  },
  platform_rejected: {
    status: 502,
    message:
      "The platform's answer does not fit the connection that was asked for. Nothing was stored; please connect again.",
  },
  misconfigured: {
    status: 500,
    message:
      'The platform refuses the credentials of this app. Its operator has been told; nothing was stored.',
  },
  consent_unavailable: {
    status: 502,
    message: "The platform's consent page reported a fault of its own. Nothing was stored; please try again.",
  },
  consent_misconfigured: {
    status: 500,
    message:
      'The platform refused how this app asks for consent. Its operator has been told; nothing was stored.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type FailureCode = keyof typeof FAILURES

/** What an `error` parameter on the callback means (RFC 6749 section 4.1.2.1). */
export function consentFailure(error: string): ConnectFailure {
  if (error === 'access_denied') return new ConnectFailure('consent_denied')
  const temporary = error === 'server_error' || error === 'temporarily_unavailable'
  // The error comes from an address that anyone can type, so only what looks like a code is logged.
  const reason = `the consent page answered ${/^[\w.:-]{1,60}$/.test(error) ? error : 'an unreadable error'}`
  return new ConnectFailure(temporary ? 'consent_unavailable' : 'consent_misconfigured', reason)
}
