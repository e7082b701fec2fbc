import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createPort } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { printError } from './print.ts'

/** How long requests in flight may take after a stop signal, in ms. */
export const GRACE_MS = 10_000

export interface ListenOptions {
  port: number
  /** The address to listen on; undefined: all addresses. */
  host?: string | undefined
  /** The environment variable of the port, for error messages. */
  variable: string
  /**
   * If set, accepts only local connections to localhost or one of these host names. This protects a demo, in which anyone can sign
   * in, against access from the network, through a proxy or tunnel, and by DNS rebinding.
   */
  localOnly?: string[] | undefined
}

export interface Listening {
  /**
   * Closes the port. For another second, still answers requests on open connections, with `Connection: close`. Lets requests
   * finish, and closes the remaining connections after `graceMs`.
   */
  stop(graceMs: number): Promise<void>
}

/** How long an idle connection stays open, in ms: longer than in proxies (nginx: 60 s; Google's load balancers: 600 s). */
export const KEEP_ALIVE_MS = 650_000
/** The largest headers of a request, in bytes. An address with a code of 16,384 characters must fit. */
export const MAX_HEADER_BYTES = 32_768
/** How long the headers of a request may take to arrive, in ms. */
const HEADERS_MS = 15_000
/** How long a whole request may take to arrive, in ms: enough for the largest upload over a slow line. */
const REQUEST_MS = 900_000
/** The most requests per connection, as in nginx by default. */
const MAX_REQUESTS = 1_000
/** How long idle connections stay open after the port is closed, in ms, because a proxy may be sending a request. */
const LAST_REQUEST_MS = 1_000

const REMOTE =
  'This demo accepts connections from this machine only. In a container or behind a tunnel, set DEMO_ALLOW_REMOTE=true. Anyone who can reach this address can then sign in.\n'
/** Headers added by proxies and tunnels. */
const FORWARDED =
  /^(x-)?forwarded|client-?ip$|user-ip$|^x-real-ip$|^ngrok-|^x-ms-proxy$|^x-original-|^x-envoy-external|^cf-connecting|^(via|cdn-loop)$/

/** Starts an HTTP server. Throws a one-line error that names the setting to change if the port cannot be opened. */
export function listen(handler: RequestListener, options: ListenOptions): Promise<Listening> {
  const { port, host, localOnly } = options
  // Node measures the time for headers from the start of a request, so this does not end an idle connection.
  const server = createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  server.maxRequestsPerSocket = MAX_REQUESTS
  // The port is a separate server, because `close` of an HTTP server also ends idle connections.
  const openPort = createPort()
  let stopping = false
  server.on('request', (req, res) => {
    if (stopping) res.shouldKeepAlive = false
    if (!localOnly || isLocal(req, localOnly)) return handler(req, res)
    res.writeHead(403, { 'content-type': 'text/plain' }).end(REMOTE)
  })

  async function stop(graceMs: number): Promise<void> {
    stopping = true
    openPort.close()
    const lastMs = Math.min(graceMs, LAST_REQUEST_MS)
    await pause(lastMs)
    const closed = new Promise((resolve) => server.close(resolve))
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs - lastMs)
    await closed
    clearTimeout(deadline)
  }

  return new Promise((resolve, reject) => {
    openPort.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(listenProblem(error.code, options))),
    )
    openPort.listen({ port, host }, () => server.listen(openPort, () => resolve({ stop })))
  })
}

function isLocal({ socket, headers }: IncomingMessage, hosts: string[]): boolean {
  const name = (headers.host ?? '').replace(/:\d+$/, '')
  return (
    /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') &&
    !Object.keys(headers).some((name) => FORWARDED.test(name)) &&
    ['localhost', '127.0.0.1', '[::1]', ...hosts].includes(name)
  )
}

function listenProblem(code: string | undefined, { port, host, variable }: ListenOptions): string {
  switch (code) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `HOST: ${host} is not an address of this machine; use 0.0.0.0 for all addresses or 127.0.0.1 for local connections only`
    case 'EADDRINUSE':
      return `${variable}: port ${port} is already in use; stop the other program or set ${variable} to a free port`
    case 'EACCES':
      return `${variable}: port ${port} requires more privileges than this user has; set ${variable} to 1024 or above`
    default:
      return `${variable}: port ${port} cannot be opened (${code})`
  }
}

/** A second signal within this time, in ms, is ignored, because npm passes on a copy of Ctrl-C. */
const SAME_SIGNAL_MS = 1_000

/**
 * Runs `work` on the first SIGINT or SIGTERM, and then exits. A signal more than a second later exits immediately. `now`: a clock
 * in ms.
 */
export function onStopSignal(work: () => Promise<void>, now = () => performance.now()): void {
  let stoppedAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        stoppedAt = now()
        work().then(() => process.exit(0), fail)
      } else if (now() - stoppedAt > SAME_SIGNAL_MS) process.exit(1)
    })
  }
}

/** Prints the message of an error, without a stack trace, and exits with 1. */
export function fail(error: unknown): never {
  printError(...(error instanceof Error ? error.message : String(error)).split('\n'))
  process.exit(1)
}
