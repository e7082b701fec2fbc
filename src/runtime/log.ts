import { type DestinationStream, type Logger, pino } from 'pino'
import { requestContext } from '../connect/index.ts'

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

/**
 * Standard output. If the disk behind it is full, lines are lost and nothing else; pino's own destination would retry
 * forever and keep the process from exiting.
 */
function standardOutput(): DestinationStream {
  process.stdout.on('error', () => {})
  return { write: (line) => void process.stdout.write(line) }
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
