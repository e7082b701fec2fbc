import { type DestinationStream, type Logger, pino } from 'pino'
import { requestContext } from '../connect/request-context.ts'

/**
 * Creates the logger, which writes JSON lines to standard output. The app logs selected fields only; redaction is a
 * safeguard in case a whole object is logged.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Copy the context, because pino adds fields to the object.
      mixin: () => ({ ...requestContext.getStore() }),
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    destination ?? standardOutput(),
  )
}

/** Standard output. Ignores errors, so that a full disk loses log lines but doesn't stop the app. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: false })
  destination.on('error', () => {})
  return destination
}

const SECRET_FIELDS = [
  'accessToken',
  'refreshToken',
  'access_token',
  'refresh_token',
  'clientSecret',
  'client_secret',
  'authorization',
  'cookie',
  'codeVerifier',
  'code_verifier',
  'sessionID',
]
const REDACTED = SECRET_FIELDS.flatMap((name) => [name, `*.${name}`])
