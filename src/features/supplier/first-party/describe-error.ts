import { AppError, CoreError } from '../../../connect/errors.ts'

const SETTINGS =
  'PLATFORM_API_URL, PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY and the tenant'

/** Formats an error for the person running a command: the problem and the remedy. */
export function describeError(error: unknown): string {
  if (!(error instanceof AppError)) return error instanceof Error ? error.message : String(error)
  const reason = error.reason ? ` (${error.reason})` : ''
  if (!(error instanceof CoreError)) return error.message + reason
  switch (error.code) {
    case 'misconfigured': {
      const what = error.reason ?? 'the platform rejected the settings'
      return `${what.charAt(0).toUpperCase()}${what.slice(1)}. Check ${SETTINGS}.`
    }
    case 'insufficient_scope':
      return "The API key is not allowed to do this (403). Ask the account's administrator."
    case 'not_found':
      return 'The platform cannot find the catalogue or the import (404).'
    case 'platform_unavailable':
      return `The platform is unavailable. Nothing is lost: run the same command again later${reason}`
    case 'platform_rejected':
      return `The platform rejected the request. Send its support team this response${reason}`
    default:
      return error.message + reason
  }
}
