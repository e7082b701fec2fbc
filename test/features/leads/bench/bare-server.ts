/** The least that the leads route needs: `node:http`, two reads of Redis (a session, tokens), and one call. No checks. */
import { createServer } from 'node:http'
import { createClient } from 'redis'
import { Agent, request } from 'undici'

const { PORT, REDIS_URL = '', PLATFORM_API_URL = '' } = process.env
const redis = await createClient({ url: REDIS_URL }).connect()
await redis.set('bare:session', JSON.stringify({ userId: 'ann', cookie: {} }))
await redis.set('bare:connection', JSON.stringify({ accessToken: 'access-0' }))
const dispatcher = new Agent({ connections: 64 })

createServer(async (req, res) => {
  if (req.url === '/health/live') return void res.end()
  const session = JSON.parse((await redis.get('bare:session')) ?? '{}')
  const { accessToken } = JSON.parse((session.userId && (await redis.get('bare:connection'))) ?? '{}')
  const { body, headers } = await request(`${PLATFORM_API_URL}/leads?$top=25&$skip=0&$count=true`, {
    dispatcher,
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
  })
  const items = await body.json()
  const text = JSON.stringify({ items, total: Number(headers['x-odata-total-count']) })
  res
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text)
}).listen(Number(PORT))
