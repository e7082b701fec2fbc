/**
 * As one writes it by hand in Express, with none of our code: the route of the probe (a session, one Redis read, a fetch), and
 * event streams (a session, and a poll of Redis for each stream).
 */
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'

declare module 'express-session' {
  interface SessionData {
    userId: string
  }
}

const { PORT, REDIS_URL = '', PLATFORM_API_URL, EVERY_MS } = process.env
const redis = await createClient({ url: REDIS_URL }).connect()
const app = express()
app.use(
  session({
    store: new RedisStore({ client: redis }),
    secret: 'bench',
    resave: false,
    saveUninitialized: false,
  }),
)

app.post('/sign-in', express.urlencoded(), async (req, res) => {
  const userId = String(req.body.name)
  req.session.userId = userId
  await redis.set(`token:${userId}:ctx`, JSON.stringify({ accessToken: 'access-0' }))
  await redis.set(`connections:${userId}`, JSON.stringify([{ bxcontext: 'ctx', status: 'active' }]))
  res.sendStatus(204)
})

app.get('/connections/:bxcontext/probe', async (req, res) => {
  const { userId } = req.session
  const stored = userId && (await redis.get(`token:${userId}:${req.params.bxcontext}`))
  if (!stored) return void res.sendStatus(401)
  const { accessToken } = JSON.parse(stored)
  const answer = await fetch(`${PLATFORM_API_URL}/probe?$top=25&$skip=0&$count=true`, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
  })
  if (!answer.ok) return void res.sendStatus(502)
  res.json({ items: await answer.json(), total: Number(answer.headers.get('x-odata-total-count')) })
})

app.get('/connections/live', (req, res) => {
  const { userId } = req.session
  if (!userId) return void res.sendStatus(401)
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.write('retry: 2000\n\n')
  let previous: string | null | undefined
  const timer = setInterval(async () => {
    const snapshot = await redis.get(`connections:${userId}`)
    if (previous !== undefined && snapshot !== previous) res.write('event: changed\ndata:\n\n')
    previous = snapshot
  }, Number(EVERY_MS))
  res.once('close', () => clearInterval(timer))
})

app.get('/health/live', (_req, res) => void res.sendStatus(204))
app.listen(Number(PORT))
