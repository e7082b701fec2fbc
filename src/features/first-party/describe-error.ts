import {
  AppError,
  ConfigurationError,
  InsufficientScopeError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../connect/errors.ts'

/** Formats an error for the person running a command: what happened and what to do. */
export function describeError(error: unknown): string {
  if (error instanceof ConfigurationError) {
    const what = error.reason?.includes('paused')
      ? 'the platform has just rejected the settings; run the command again in a few seconds'
      : (error.reason ?? 'the platform rejected the settings')
    return `${capitalize(what)}. Check PLATFORM_API_URL, PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY and the tenant.`
  }
  if (error instanceof InsufficientScopeError)
    return "The API key is not allowed to do this (403). Ask the account's administrator."
  if (error instanceof NotFoundError) return 'The platform cannot find the catalogue or the import (404).'
  if (error instanceof PlatformUnavailableError)
    return withReason(
      'The platform is unavailable. Nothing is lost: run the same command again later',
      error.reason,
    )
  if (error instanceof PlatformRejectedError)
    return withReason('The platform rejected the request. Send its support team this response', error.reason)
  if (error instanceof AppError) return withReason(error.message, error.reason)
  return error instanceof Error ? error.message : String(error)
}

const withReason = (message: string, reason: string | undefined) =>
  reason ? `${message} (${reason})` : message
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
