/**
 * A leads route written with `simple-oauth2`: the tokens are in a session in Redis, and are refreshed when they expire. With
 * DEPLOYED, as for production: with security headers, and a log line for each request.
 */
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { pino } from 'pino'
import { pinoHttp } from 'pino-http'
import { createClient } from 'redis'
import { AuthorizationCode, type Token } from 'simple-oauth2'

declare module 'express-session' {
  interface SessionData {
    token: Token
  }
}

const { PORT, REDIS_URL = '', PLATFORM_API_URL = '', PLATFORM_AUTH_URL = '', DEPLOYED } = process.env
const oauth = new AuthorizationCode({
  client: { id: 'client', secret: 'secret' },
  auth: { tokenHost: PLATFORM_AUTH_URL },
})
const redis = await createClient({ url: REDIS_URL }).connect()
const app = express()
if (DEPLOYED) app.use(helmet(), pinoHttp({}, pino.destination('/dev/null')))
app.use(
  session({
    store: new RedisStore({ client: redis }),
    secret: 'bench',
    resave: false,
    saveUninitialized: false,
  }),
)

/** `expires_in`: seconds; 0 is a token that has expired. */
app.post('/sign-in', async (req, res) => {
  const seconds = Number(req.query.expires_in ?? 3600)
  const expires_at = new Date(Date.now() + seconds * 1000).toISOString()
  req.session.token = { access_token: 'access-0', refresh_token: 'refresh-0', expires_at }
  res.sendStatus(204)
})

app.get('/connections/:bxcontext/leads', async (req, res) => {
  if (!req.session.token) return void res.sendStatus(401)
  let accessToken = oauth.createToken(req.session.token)
  if (accessToken.expired()) {
    accessToken = await accessToken.refresh()
    req.session.token = accessToken.token
  }
  const answer = await fetch(`${PLATFORM_API_URL}/leads?$top=25&$skip=0&$count=true`, {
    headers: { authorization: `Bearer ${accessToken.token.access_token}`, accept: 'application/json' },
  })
  if (!answer.ok) return void res.sendStatus(502)
  res.json({ items: await answer.json(), total: Number(answer.headers.get('x-odata-total-count')) })
})

app.get('/health/live', (_req, res) => void res.sendStatus(204))
app.listen(Number(PORT))
