/**
 * A hand-written leads route in Fastify that is as safe as ours: helmet, a log line for each request, a signed session cookie with
 * Redis, an encrypted token, and a client of the platform with limits. With TOKENS_IN_SESSION, the fastest variant: the unencrypted
 * tokens are in the session, so a single read finds both, and calls have no limits.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import session from '@fastify/session'
import { RedisStore } from 'connect-redis'
import type { SessionData } from 'express-session'
import fastify from 'fastify'
import { createClient } from 'redis'
import { Agent, request } from 'undici'

declare module 'express-session' {
  interface SessionData {
    userId: string
    tokens: { accessToken: string; refreshToken: string; expiresAt: number }
  }
}

declare module 'fastify' {
  interface Session extends Omit<SessionData, 'cookie'> {}
}

const { PORT, REDIS_URL = '', PLATFORM_API_URL = '', TOKENS_IN_SESSION } = process.env
const redis = await createClient({ url: REDIS_URL }).connect()
const limits = { connections: 64, headersTimeout: 8_000, bodyTimeout: 8_000, maxResponseSize: 10_000_000 }
const dispatcher = new Agent(TOKENS_IN_SESSION ? {} : limits)
const key = randomBytes(32)
const keyOf = (userId: string, bxcontext: string) => `connection:${userId}:${bxcontext}`

function encrypt(text: string, aad: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(aad))
  const encrypted = [cipher.update(text, 'utf8'), cipher.final()]
  return Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url')
}

function decrypt(encrypted: string, aad: string): string {
  const bytes = Buffer.from(encrypted, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(aad))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return decipher.update(bytes.subarray(28), undefined, 'utf8') + decipher.final('utf8')
}

async function storedTokens(userId: string, bxcontext: string): Promise<SessionData['tokens'] | null> {
  const name = keyOf(userId, bxcontext)
  const stored = await redis.get(name)
  return stored === null ? null : JSON.parse(decrypt(stored, name))
}

// One log line for each request, as our app writes, instead of two.
const app = fastify({ logger: true, disableRequestLogging: true })
app.addHook('onResponse', async (req, reply) => {
  const { url: route } = req.routeOptions
  const { statusCode: status, elapsedTime: ms } = reply
  req.log.info({ method: req.method, route, status, ms: Math.round(ms) }, 'request')
})
app.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  async (_req: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
)
await app.register(helmet)
await app.register(cookie)
await app.register(session, {
  store: new RedisStore({ client: redis }),
  secret: 'the secret of a benchmark, which is long enough',
  cookie: { secure: false, sameSite: 'lax' },
  saveUninitialized: false,
  rolling: false,
})

app.post<{ Body: { name: string } }>('/sign-in', async (req, reply) => {
  const userId = req.body.name
  req.session.userId = userId
  const name = keyOf(userId, 'ctx')
  const tokens = { accessToken: 'access-0', refreshToken: 'refresh-0', expiresAt: Date.now() + 3_600_000 }
  if (TOKENS_IN_SESSION) req.session.tokens = tokens
  else await redis.set(name, encrypt(JSON.stringify(tokens), name))
  return reply.code(204).send()
})

app.get<{ Params: { bxcontext: string }; Querystring: { top?: string; skip?: string } }>(
  '/connections/:bxcontext/leads',
  async (req, reply) => {
    const { userId, tokens = userId && (await storedTokens(userId, req.params.bxcontext)) } = req.session
    if (!userId) return reply.code(401).send({ code: 'unauthenticated' })
    if (!tokens) return reply.code(404).send({ code: 'not_connected' })
    const { accessToken, expiresAt } = tokens
    if (expiresAt < Date.now()) return reply.code(503).send({ code: 'expired' })
    const top = Number(req.query.top ?? 25)
    const skip = Number(req.query.skip ?? 0)
    const { statusCode, headers, body } = await request(
      `${PLATFORM_API_URL}/leads?$top=${top}&$skip=${skip}&$count=true`,
      {
        dispatcher,
        ...(!TOKENS_IN_SESSION && { signal: AbortSignal.timeout(8_000) }),
        headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
      },
    )
    if (statusCode !== 200) return reply.code(502).send({ code: 'platform_rejected' })
    reply.header('cache-control', 'no-store')
    return { items: await body.json(), total: Number(headers['x-odata-total-count']) }
  },
)

app.get('/health/live', async (_req, reply) => reply.code(204).send())
await app.listen({ port: Number(PORT) })
