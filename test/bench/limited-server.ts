/** A platform that answers every request as fast as Node can; it takes `LIMIT` of them in any `WINDOW_MS`, if that is set. */
import { createServer } from 'node:http'

const limit = Number(process.env.LIMIT ?? 0)
const windowMs = Number(process.env.WINDOW_MS ?? 0)
const times: number[] = []
let refused = 0

createServer((req, res) => {
  res.setHeader('content-type', 'application/json')
  if (req.url === '/times') return void res.end(JSON.stringify({ times, refused }))
  if (limit > 0) {
    const now = performance.now()
    const first = times.at(-limit)
    if (first !== undefined && first > now - windowMs) {
      refused++
      res.writeHead(429, { 'retry-after': '1' }).end()
      return void req.resume()
    }
    times.push(now)
  }
  req.resume()
  req.on('end', () => res.end('{"status":"Completed"}'))
}).listen(Number(process.env.PORT), '127.0.0.1')
