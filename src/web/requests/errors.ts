import { AppError, type AppErrorOptions } from '../../connect/errors.ts'
import { texts } from '../texts.ts'

type Code = keyof typeof texts.errors

/** Errors of the web layer; other layers have their own error classes. */
export class WebError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  /** `message`: the text for users instead of that of the code. Only the log contains `options.reason`. */
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

/** `rule`: the rule that the field breaks, without the field's name. */
export class InvalidInputError extends WebError {
  readonly rule: string
  constructor(field: string, rule: string) {
    super(400, 'invalid_input', texts.details.invalid(field, rule), { field })
    this.rule = rule
  }
}
