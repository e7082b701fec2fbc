import { type DestinationStream, type Logger, pino } from 'pino'
import { requestContext } from '../connect/index.ts'

/**
 * Creates the logger. It writes each JSON line to standard output immediately, so that no line is lost when the process ends. The
 * app logs selected fields only. Redaction is a safeguard in case code logs a whole object.
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

/** If the disk is full or the pipe is closed, lines are lost, but the app keeps running. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: 1_000_000 })
  return output.on('error', () => {})
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
