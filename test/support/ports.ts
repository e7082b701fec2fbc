import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MAX_HEADER_BYTES } from '../../src/runtime/serve.ts'

/**
 * The range of free ports. Systems use higher ports for outgoing connections, so no program takes a port of this range before the
 * test does. The same is true of the port plus 10,000, through which the nodes of a Redis Cluster communicate.
 */
const [FIRST_PORT, LAST_PORT] = [12_000, 22_000]

/** A free port for a program. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT))
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** A server whose handler may be set once its address is known, on a free port by default. */
export async function serve(handler?: RequestListener, fixedPort = 0) {
  // Longer than any test pauses: a client must not reuse a connection that the server is closing.
  const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize: MAX_HEADER_BYTES }, handler)
  const port = await listenOn(server, fixedPort)
  return {
    server,
    port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listenOn(server: Server, fixedPort: number): Promise<number> {
  return new Promise((resolve) => {
    server.listen(fixedPort, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
