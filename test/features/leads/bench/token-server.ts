/** A token endpoint that takes 50 ms and counts its requests; `GET /count` resolves to their number and starts again. */
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'

let requests = 0
createServer(async (req, res) => {
  if (req.method !== 'POST') {
    res.end(String(requests))
    if (req.url === '/count') requests = 0
    return
  }
  requests++
  await setTimeout(50)
  const tokens = {
    access_token: 'access-1',
    refresh_token: 'refresh-0',
    token_type: 'Bearer',
    expires_in: 3600,
  }
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
}).listen(Number(process.env.PORT))
