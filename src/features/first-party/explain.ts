import { AppError } from '../../connect/app-error.ts'
import {
  ConfigurationError,
  InsufficientScopeError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../connect/platform/errors.ts'

/** An error as a message for the person who runs a command: what happened and what to do. */
export function explain(error: unknown): string {
  if (error instanceof ConfigurationError) {
    const what = error.reason?.includes('paused')
      ? 'the platform rejected the settings a moment ago; run the command again in a few seconds'
      : (error.reason ?? 'the platform rejects the settings')
    return `${capital(what)}. Check PLATFORM_API_URL, PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY and the tenant.`
  }
  if (error instanceof InsufficientScopeError)
    return 'The platform does not permit this for the API key (403). Ask its administrator.'
  if (error instanceof NotFoundError)
    return 'The platform no longer knows what this command works on (404): the catalogue or the import.'
  if (error instanceof PlatformUnavailableError)
    return withReason(
      'The platform is not available. Nothing is lost: run the same command again later',
      error.reason,
    )
  if (error instanceof PlatformRejectedError)
    return withReason('The platform rejected this. Send its support team this answer', error.reason)
  if (error instanceof AppError) return withReason(error.message, error.reason)
  return error instanceof Error ? error.message : String(error)
}

const withReason = (message: string, reason: string | undefined) =>
  reason ? `${message} (${reason})` : message
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
