import { createServer, type RequestListener, type Server } from 'node:http'

/** How long requests in flight may take to finish after a stop signal, in ms. */
export const GRACE_MS = 10_000

export interface ListenOptions {
  port: number
  /** The variable that sets the port, to be named when it cannot be had. */
  variable: string
  /** Answers this machine only: for a demo, whose sign-in anyone could use. */
  localOnly?: boolean
}

/** Listens on all addresses. Throws an error of one line that names `variable` when the port cannot be had. */
export function listen(
  handler: RequestListener,
  { port, variable, localOnly = false }: ListenOptions,
): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 15_000 }, handler)
  if (localOnly) {
    // Refused after the fact rather than by address, so that localhost works by IPv4 and IPv6 alike.
    server.on('connection', (socket) => {
      if (!/^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')) socket.destroy()
    })
  }
  return new Promise((resolve, reject) => {
    server.once('listening', () => resolve(server))
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(portProblem(error.code, port, variable))),
    )
    server.listen(port)
  })
}

function portProblem(code: string | undefined, port: number, variable: string): string {
  if (code === 'EADDRINUSE')
    return `${variable}: port ${port} is taken by another program; stop it or set ${variable} to a free port`
  if (code === 'EACCES')
    return `${variable}: port ${port} needs more rights than this user has; set ${variable} to 1024 or above`
  return `${variable}: port ${port} cannot be opened (${code})`
}

/** Stops listening at once, lets requests in flight finish, and cuts off what is left after `graceMs`. */
export async function stop(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  // A keep-alive connection becomes idle when its last request is done; nobody else would close it then.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(idle)
  clearTimeout(late)
}

/** Runs `work` once at the first SIGINT or SIGTERM, then ends the process; a second signal ends it at once. */
export function onStopSignal(work: () => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      work().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
  }
}

/** Ends the process with one clear message instead of a stack trace. */
export function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
