import { createHash, timingSafeEqual } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import type { Connect } from '../../connect/index.ts'
import { type Feature, field, type SettingsOf, WebError } from '../../web/feature-api.ts'

/** Digests have one length, so comparing them does not reveal that of the key. */
const digest = (key: string) => createHash('sha256').update(key).digest()
const settings = () =>
  z.object({
    key: z
      .string()
      .refine((key) => !field.isWeak(key, 32, 10), 'is too weak (use 32 random characters or more)')
      .transform(digest)
      .optional()
      .meta({ variable: 'SERVICE_TOKENS_KEY', description: 'With it, services get tokens of all users.' }),
  })
const query = z.object({ user: z.string().min(1), bxcontext: z.string().min(1) })

const requireKey =
  (key: Buffer): RequestHandler =>
  (req, res, next) => {
    const [, given = ''] = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '') ?? []
    res.set({ 'Cache-Control': 'no-store', 'WWW-Authenticate': 'Bearer realm="service-tokens"' })
    if (!timingSafeEqual(digest(given), key)) throw new WebError(401, 'unauthenticated', 'The key is wrong.')
    next()
  }

const tokenRoute = ({ vault }: Connect) =>
  Router().get('/', async (req, res) => {
    const { user: userId, bxcontext } = query.parse(req.query)
    const source = vault.tokenSource({ userId, bxcontext })
    const rejected = req.get('x-rejected-token')
    const accessToken = await (rejected ? source.refresh(rejected) : source.accessToken())
    const expiresAt = (await vault.find({ userId, bxcontext }))?.tokens?.expiresAt ?? null
    res.json({ accessToken, expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() })
  })

export default {
  title: 'Access tokens for services in other languages',
  order: 250,
  settings,
  create({ connect }, { key }) {
    if (key === undefined) return {}
    const router = Router().use(requireKey(key), tokenRoute(connect))
    return { serverRoutes: [{ path: '/internal/token', router }] }
  },
} satisfies Feature<SettingsOf<typeof settings>>
