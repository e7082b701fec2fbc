import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

/** How long requests in flight may take to finish after a stop signal, in ms. */
export const GRACE_MS = 10_000

/** The longest time that a request's body may take, in ms: a large file over a slow line. */
const UPLOAD_MS = 900_000

export interface ListenOptions {
  port: number
  /** The address to listen on; undefined: all. */
  host?: string | undefined
  /** The variable that sets the port, to be named when it cannot be had. */
  variable: string
  /**
   * Answers this machine only, and only under the name localhost or one of these hosts: for a demo, whose sign-in
   * anyone could use, from the network, through a proxy or a tunnel, or by a name that is made to point here (DNS
   * rebinding).
   */
  localOnly?: string[] | undefined
}

export interface Listening {
  /** Stops listening at once, lets requests in flight finish, and cuts off what is left after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

const REMOTE =
  'This demo accepts connections from this machine only. In a container, a Codespace or behind a tunnel set DEMO_ALLOW_REMOTE=true: everyone who can reach this address can then sign in.\n'
/** Headers by which a proxy or a tunnel passes on a request from elsewhere. */
const FORWARDED =
  /^(x-)?forwarded|client-?ip$|user-ip$|^x-real-ip$|^ngrok-|^x-ms-proxy$|^x-original-|^x-envoy-external|^cf-connecting|^(via|cdn-loop)$/

/** Listens. Throws an error of one line that names `variable` when the port cannot be had. */
export function listen(
  handler: RequestListener,
  { port, host, variable, localOnly }: ListenOptions,
): Promise<Listening> {
  const server = createServer({ requestTimeout: UPLOAD_MS, headersTimeout: 15_000 })
  const sockets = new Set<Socket>()
  const open = new Set<ServerResponse>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (req, res) => {
    open.add(res)
    res.once('close', () => open.delete(res))
    if (!localOnly || isLocal(req, localOnly)) return handler(req, res)
    res.writeHead(403, { 'content-type': 'text/plain' }).end(REMOTE)
  })

  async function stop(graceMs: number): Promise<void> {
    // Not http's own close, which cuts off answers that are written but not yet sent.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
    const endIdle = () => {
      const busy = new Set([...open].map(({ socket }) => socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.end()
    }
    endIdle()
    // A keep-alive connection becomes idle when its last answer is sent; nobody else would close it then.
    const idle = setInterval(endIdle, 50)
    const late = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearInterval(idle)
    clearTimeout(late)
  }

  return new Promise((resolve, reject) => {
    server.once('listening', () => resolve({ stop }))
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(listenProblem(error.code, port, host, variable))),
    )
    server.listen({ port, host })
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

function listenProblem(
  code: string | undefined,
  port: number,
  host: string | undefined,
  variable: string,
): string {
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST: ${host} is not an address of this machine; use 0.0.0.0 for all, 127.0.0.1 for this machine only`
  if (code === 'EADDRINUSE') {
    return `${variable}: port ${port} is taken by another program; stop it or set ${variable} to a free port`
  }
  if (code === 'EACCES') {
    return `${variable}: port ${port} needs more rights than this user has; set ${variable} to 1024 or above`
  }
  return `${variable}: port ${port} cannot be opened (${code})`
}

/** Runs `work` once at the first SIGINT or SIGTERM, then ends the process; a second signal ends it at once. */
export function onStopSignal(work: () => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      work().then(() => process.exit(0), fail)
    })
  }
}

/** Ends the process with one clear message instead of a stack trace. */
export function fail(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
