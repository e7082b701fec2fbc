/** A page of 25 records of the platform, and tokens for a POST, as fast as Node can answer them, in a process of its own. */
import { createServer } from 'node:http'

const records = Array.from({ length: 25 }, (_, index) => ({
  id: `harbour-homes-L${index + 1}`,
  name: `Nora Example ${index + 1}`,
  email: `nora.example${index + 1}@example.com`,
  phone: '0491 570 006',
  suburb: 'Northcote',
  projectType: 'Extension',
  status: 'New',
  createdAt: '2026-01-01T00:00:00.000Z',
  notes: 'Would like a quote for a second storey by the end of the month.',
}))
const body = JSON.stringify(records)
const headers = {
  'content-type': 'application/json',
  'x-odata-total-count': '40',
  'content-length': Buffer.byteLength(body),
}

createServer((req, res) => {
  if (req.method === 'GET') return void res.writeHead(200, headers).end(body)
  const tokens = { access_token: crypto.randomUUID().repeat(20), token_type: 'Bearer', expires_in: 3600 }
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
}).listen(Number(process.env.PORT))
