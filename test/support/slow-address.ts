import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/**
 * The HTTP server's port, and a shared number. While the number is 0, the server's thread is blocked and accepts no connections.
 */
const SERVER = `
const { createServer } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const server = createServer((req, res) => res.end('from the slow address'))
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(workerData, 0, 0)
})`

/**
 * An HTTP server on 127.0.0.1 whose TCP handshake takes a second. Its queue of connections is full, so the first packet is lost,
 * and the client's system sends it again a second later. `wake` lets it accept connections.
 */
export async function startSlowAddress() {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(SERVER, { eval: true, workerData: flag })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  // Linux queues one more connection than the backlog.
  const waiting: Socket[] = []
  for (let i = 0; i < 2; i++) {
    const socket = connect(port, '127.0.0.1')
    waiting.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  return {
    port,
    wake: () => {
      Atomics.store(flag, 0, 1)
      Atomics.notify(flag, 0)
    },
    close: async () => {
      for (const socket of waiting) socket.destroy()
      await worker.terminate()
    },
  }
}
