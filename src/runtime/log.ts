import { type DestinationStream, type Logger, pino } from 'pino'
import { requestContext } from '../connect/request-context.ts'

/**
 * The log: JSON lines on standard output. We log chosen fields only; what is listed here is cut out all the same,
 * should anyone ever log a whole object.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: timestamps(),
      // A copy: pino adds the fields of the line to it.
      mixin: () => ({ ...requestContext.getStore() }),
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    destination ?? standardOutput(),
  )
}

/** The time of a line; those of one millisecond share it. */
function timestamps(): () => string {
  let at = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== at) {
      at = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

/**
 * Standard output; a full disk behind it loses lines and nothing else. The lines of one turn of the event loop are
 * written together: under load, a write for each would take longer than much of what they tell of.
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
  ...['accessToken', 'refreshToken', 'access_token', 'refresh_token', 'clientSecret', 'client_secret'],
  ...['authorization', 'cookie', 'codeVerifier', 'code_verifier', 'sessionID'],
]
const REDACTED = NAMES.flatMap((name) => [name, `*.${name}`])
