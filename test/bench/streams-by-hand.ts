/** Event streams as one writes them by hand in Express: a session, and a poll of Redis for each stream. None of our code. */
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'

declare module 'express-session' {
  interface SessionData {
    userId: string
  }
}

const { PORT, REDIS_URL = '', EVERY_MS } = process.env
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
  await redis.set(`connections:${userId}`, JSON.stringify([{ bxcontext: 'ctx', status: 'active' }]))
  res.sendStatus(204)
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
