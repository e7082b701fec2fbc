/** Requests that the app does not answer: those that cannot be read, and those that arrive before the previous one is answered. */
import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { texts } from './texts.ts'

// Not imported, for the reason given in `src/runtime/serve.ts`.
const { IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http')

/** How long a connection stays open after the answer to a request that cannot be read, in ms: the client may still be sending. */
const LAST_MS = 1_000
/** How long the app may still take for its answer once the next request has arrived too early, in ms. */
const ANSWER_MS = 10_000

/** The answer that each connection waits for. */
const answering = new WeakMap<Duplex, ServerResponse>()

/**
 * A request on a connection with one request at a time: browsers and proxies wait for the answer before they send the next. If a
 * request did not wait, its `upgrade` is true, so that Node takes the connection for one that changes to another protocol. Node then
 * reads nothing more from it, not even the thousands of requests that fit into a single read. Answering each of them would keep other
 * users waiting for seconds. It is not documented that Node looks at `upgrade`, but there is no other way to make it stop reading.
 * `serve.test.ts` would notice a change.
 */
export class SingleRequest extends IncomingMessage {
  readonly #isEarly = answering.has(this.socket)
  get upgrade(): boolean {
    return this.#isEarly
  }
  /** Ignores what Node sets: whether the client asks for another protocol, of which this server has none. */
  set upgrade(_asked) {}
}

/**
 * Sends a short page in answer to each request that cannot be read, and logs a line. If a request did not wait, its connection
 * ends after the answer to the previous request.
 */
export function refuseUnseen(server: Server<typeof SingleRequest>, log?: Logger): void {
  server.on('request', ({ socket }, res) => {
    answering.set(socket, res)
    res.once('close', () => answering.delete(socket))
  })
  server.on('upgrade', (_early, socket) => {
    socket.on('error', () => {})
    answering.get(socket)?.once('close', () => socket.destroy())
    setTimeout(() => socket.destroy(), ANSWER_MS).unref()
  })
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    if (answering.get(socket)?.headersSent) return void socket.destroy()
    // The connection has ended, or is about to end.
    if (!socket.writable) return
    const status = statusOf(code)
    log?.info({ status, reason: code }, 'request that cannot be read')
    socket.end(answerOf(status))
    setTimeout(() => socket.destroy(), LAST_MS).unref()
  })
}

function statusOf(code: string | undefined): keyof typeof texts.unreadRequests {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
}

/** A whole response (RFC 9112): the headers, and a page in case a browser sent the request. */
function answerOf(status: keyof typeof texts.unreadRequests): string {
  const { title, detail } = texts.unreadRequests[status]
  const page = `<!doctype html>
<html lang="${texts.language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p>${detail}</p>
`
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(page)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return `${headers.join('\r\n')}\r\n\r\n${page}`
}
