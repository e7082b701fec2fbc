import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a local server, for tests that pause at a message or silently cut the connection. */
export async function tapProxy(port: number) {
  const sockets: Socket[] = []
  const pairs: { inbound: Socket; outbound: Socket }[] = []
  /** Resolves to whether the next chunk that a client sends is delivered. */
  let onNext: (() => Promise<boolean>) | undefined

  const server = createServer((inbound) => {
    const outbound = connect(port, '127.0.0.1')
    sockets.push(inbound, outbound)
    pairs.push({ inbound, outbound })
    for (const socket of [inbound, outbound]) socket.on('error', () => {})
    outbound.pipe(inbound)
    inbound.on('data', (chunk) => {
      const decide = onNext
      onNext = undefined
      if (!decide) return void outbound.write(chunk)
      void decide().then((delivered) => delivered && outbound.write(chunk))
    })
    inbound.on('end', () => outbound.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** Holds the next chunk that a client sends until `decide` resolves to whether it is delivered. */
    tap(decide: () => Promise<boolean>): void {
      onNext = decide
    },
    /** Connections that are open now stay open and deliver nothing any more, in either direction. */
    fallSilent(): void {
      for (const { inbound, outbound } of pairs) {
        inbound.removeAllListeners('data').resume()
        outbound.unpipe().resume()
      }
    },
    close(): void {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
