import { request } from 'node:http'
import { serve } from '../support/ports.ts'

/** A proxy in front of several processes of the app; it sends every request to another one than the request before. */
export async function startAlternatingProxy(port: number, targets: readonly number[]) {
  const handled = targets.map(() => 0)
  let next = 0
  const proxy = await serve((req, res) => {
    const index = next++ % targets.length
    handled[index] = (handled[index] ?? 0) + 1
    const { method, headers, url: path } = req
    const forwarded = request({
      port: targets[index],
      host: '127.0.0.1',
      method,
      headers,
      path,
      agent: false,
    })
    forwarded.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      // Live updates have to arrive at once.
      res.flushHeaders()
      answer.pipe(res)
    })
    forwarded.on('error', () => res.destroy())
    res.on('close', () => forwarded.destroy())
    req.pipe(forwarded)
  }, port)
  return { handled, close: proxy.close }
}
