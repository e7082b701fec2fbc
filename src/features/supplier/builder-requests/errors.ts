import { AppError } from '../../../connect/errors.ts'
import { texts } from './texts.ts'

const WEBHOOK_ERRORS = {
  webhook_disabled: { status: 404, title: 'Webhook not configured' },
  invalid_signature: { status: 401, title: 'Invalid signature' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  invalid_event: { status: 400, title: 'Invalid event payload' },
}

const FAILURES = {
  ...WEBHOOK_ERRORS,
  request_changed: { status: 409, title: texts.changed.title },
}
type Code = keyof typeof FAILURES

/** A rejected delivery, or a decision about a request that has changed in the meantime. */
export class BuilderRequestError extends AppError {
  readonly code: Code
  readonly status: number
  readonly title: string
  constructor(code: Code, message: string) {
    super(message)
    this.code = code
    this.status = FAILURES[code].status
    this.title = FAILURES[code].title
  }
}
