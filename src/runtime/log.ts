import { writeSync } from 'node:fs'
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

let opened: DestinationStream | undefined
/** All logs of the process share it. */
const standardOutput = () => (opened ??= openStandardOutput())

/** How long a line may wait for others, in ms. */
const COLLECT_MS = 100
/** How long a full pipe is waited for when the process exits, in ms. */
const LAST_WRITE_MS = 2_000
/** pino's number of the level. */
const WARN = 40
/** How much may wait, in characters. */
const MAX_COLLECTED = 64_000

/**
 * Standard output. Lines are written together, since each write is a system call: every 100 ms, at a warning or an error,
 * and when the process exits, also by an exception. If the disk behind it is full, lines are lost and nothing else; pino's
 * own destination would retry forever and keep the process from exiting.
 */
function openStandardOutput(): DestinationStream {
  let collected = ''
  /** What a full pipe has not taken; it may begin in the middle of a character. */
  let left: Buffer = Buffer.alloc(0)
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    left = writeOut(Buffer.concat([left, Buffer.from(collected)]))
    collected = ''
    timer = left.length > 0 ? setTimeout(flush, COLLECT_MS).unref() : undefined
  }
  process.on('exit', () => {
    const deadline = performance.now() + LAST_WRITE_MS
    flush()
    while (left.length > 0 && performance.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      flush()
    }
  })
  const destination = {
    [pino.symbols.needsMetadataGsym]: true,
    /** Set by pino before each line. */
    lastLevel: 0,
    write(line: string) {
      collected += line
      if (destination.lastLevel >= WARN || collected.length > MAX_COLLECTED) flush()
      else timer ??= setTimeout(flush, COLLECT_MS).unref()
    },
  }
  return destination
}

/**
 * Writes to standard output without a buffer of Node's, whose rest would be lost at an exit. Returns what a full pipe has
 * not taken; what a full disk or a closed pipe does not take is lost.
 */
function writeOut(bytes: Buffer): Buffer {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(1, bytes, written)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return bytes.subarray(written)
  }
  return Buffer.alloc(0)
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
