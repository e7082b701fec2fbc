import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A port that nobody listens on just now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOn(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A server whose handler may be set once its address is known. */
export async function serve(handler?: RequestListener) {
  const server = createServer(handler)
  const port = await listenOn(server)
  return {
    server,
    port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listenOn(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
