/** The probe's route, written by hand in Express without our code: a session, a Redis read, and a fetch. */
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'

declare module 'express-session' {
  interface SessionData {
    userId: string
  }
}

const { PORT, REDIS_URL = '', PLATFORM_API_URL } = process.env
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

app.get('/health/live', (_req, res) => void res.sendStatus(204))
app.listen(Number(PORT))
