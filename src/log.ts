import { type DestinationStream, type Logger, pino } from 'pino'

/**
 * The log: JSON lines on standard output. We log chosen fields only; what is listed here is cut out all the same,
 * should anyone ever log a whole object.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    destination ?? standardOutput(),
  )
}

/** Standard output; a full disk behind it loses lines and nothing else. */
function standardOutput(): DestinationStream {
  process.stdout.on('error', () => {})
  return { write: (line) => void process.stdout.write(line) }
}

const NAMES = [
  ...['accessToken', 'refreshToken', 'access_token', 'refresh_token', 'clientSecret', 'client_secret'],
  ...['authorization', 'cookie', 'codeVerifier', 'code_verifier', 'sessionID'],
]
const REDACTED = NAMES.flatMap((name) => [name, `*.${name}`])
