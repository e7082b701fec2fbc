import { type DestinationStream, type Logger, pino } from 'pino'
import { requestContext } from '../connect/request-context.ts'

/**
 * The log: JSON lines on standard output. We log chosen fields only; the secrets listed here are cut out as well, in
 * case somebody logs a whole object.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A copy: pino adds the fields of the line to it.
      mixin: () => ({ ...requestContext.getStore() }),
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    destination ?? standardOutput(),
  )
}

/**
 * Standard output. If the disk behind it is full, lines are lost and nothing else; pino's own destination would retry its
 * last lines forever and keep the process from ending. The lines of one turn of the event loop are written together.
 */
function standardOutput(): DestinationStream {
  let lines = ''
  const flush = () => {
    const turn = lines
    lines = ''
    if (turn) process.stdout.write(turn)
  }
  process.stdout.on('error', () => {})
  process.on('exit', flush)
  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
  }
}

const NAMES = [
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
const REDACTED = NAMES.flatMap((name) => [name, `*.${name}`])
