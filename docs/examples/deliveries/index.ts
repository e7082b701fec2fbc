import { createHmac, timingSafeEqual } from 'node:crypto'
import express, { type Request, Router } from 'express'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { type Feature, requireUser, type SettingsOf } from '../../web/feature-api.ts'

const settings = () =>
  z.object({
    key: z
      .string('is required')
      .regex(/^whsec_[\w+/]{32,}=*$/, 'must be whsec_ and base64')
      .transform((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .meta({ variable: 'DELIVERIES_SECRET', description: 'The key of the signature.' }),
  })
const delivery = z.object({ userId: z.string().min(1), text: z.string().min(1).max(1000) })

function isSigned({ headers }: Request, body: Buffer, key: Buffer): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const expected = createHmac('sha256', key).update(signed).update(body).digest()
  const signatures = String(headers['webhook-signature']).split(' ')
  return signatures.some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

export default {
  title: 'Deliveries',
  order: 230,
  settings,
  create({ store }, { key }) {
    const webhook = Router().post('/', express.raw({ type: () => true, limit: '64kb' }), async (req, res) => {
      const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
      if (!isSigned(req, body, key)) return void res.status(401).json({ code: 'invalid_signature' })
      const ageS = Math.abs(Date.now() / 1000 - Number(req.get('webhook-timestamp')))
      if (!(ageS <= 300)) return void res.status(400).json({ code: 'stale_event' })
      const id = z.string().min(1).max(200).parse(req.get('webhook-id'))
      const { userId, text } = delivery.parse(parseJson(body.toString()))
      const isNew = await store.compareAndSet({ kind: 'delivery', owner: userId, id }, null, text)
      res.status(isNew ? 202 : 200).json({ isNew })
    })
    const page = Router().get('/', async (req, res) => {
      const entries = await store.list('delivery', requireUser(req))
      res.json({ deliveries: entries.map(({ value }) => value) })
    })
    return {
      serverRoutes: [{ path: '/webhooks/deliveries', router: webhook }],
      routes: [{ path: '/deliveries', needsConnection: false, router: page }],
    }
  },
} satisfies Feature<SettingsOf<typeof settings>>
