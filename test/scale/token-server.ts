/** A token endpoint that answers at once, in a process of its own. */
import { createServer } from 'node:http'

createServer((_req, res) => {
  const tokens = { access_token: crypto.randomUUID().repeat(20), token_type: 'Bearer', expires_in: 3600 }
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
}).listen(Number(process.env.PORT), '127.0.0.1')
