/** The platform's leads, as fast as Node can answer them, in a process of its own. */
import { createServer } from 'node:http'
import { leadsOf } from '../../src/sandbox/records.ts'

const leads = leadsOf('bench').slice(0, 25)
const body = JSON.stringify(leads)
const headers = {
  'content-type': 'application/json',
  'x-odata-total-count': '40',
  'content-length': Buffer.byteLength(body),
}

createServer((_req, res) => {
  res.writeHead(200, headers).end(body)
}).listen(Number(process.env.PORT), '127.0.0.1')
