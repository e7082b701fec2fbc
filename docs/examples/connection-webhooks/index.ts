import { createHmac, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { PlatformUnavailableError } from '../../connect/errors.ts'
import { retry } from '../../connect/index.ts'
import type { Feature, SettingsOf } from '../../web/feature-api.ts'

const settings = () =>
  z.object({
    url: z.url('must be an address').meta({
      variable: 'CONNECTION_WEBHOOK_URL',
      description: 'Where changes of connections are sent.',
    }),
    key: z
      .string()
      .regex(/^whsec_[\w+/]{32,}=*$/, 'must be whsec_ and 24 bytes or more in base64')
      .transform((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .meta({
        variable: 'CONNECTION_WEBHOOK_SECRET',
        description: 'The key of the signature: `whsec_` and 24 bytes or more in base64.',
      }),
  })
const SENT = ['connected', 'revoked', 'recovered', 'disconnected']

async function send({ url, key }: SettingsOf<typeof settings>, body: string, signal: AbortSignal) {
  const id = `msg_${randomUUID()}`
  const attempt = async () => {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    }
    const limit = AbortSignal.timeout(10_000)
    const request = fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: limit })
    const answer = await request.catch(() => null)
    await answer?.body?.cancel()
    if (!answer?.ok) throw new PlatformUnavailableError('error', `webhook: ${answer?.status ?? 'no answer'}`)
  }
  await retry(attempt, { timeoutMs: 3_600_000, signal })
}

export default {
  title: 'Connection webhooks',
  order: 300,
  settings,
  create({ connect }, target) {
    const stopping = new AbortController()
    let sending: Promise<unknown> = Promise.resolve()
    const unsubscribe = connect.vault.onChange(({ userId, bxcontext }, events) => {
      const changes = events.filter(({ type }) => SENT.includes(type))
      const sent = changes.map(({ type, ...details }) => {
        const data = { userId, bxcontext, ...details }
        const timestamp = new Date().toISOString()
        return send(target, JSON.stringify({ type: `connection.${type}`, timestamp, data }), stopping.signal)
      })
      sending = Promise.allSettled([sending, ...sent])
      return Promise.all(sent)
    })
    return {
      async stop() {
        unsubscribe()
        setTimeout(() => stopping.abort(), 5_000).unref()
        await sending
      },
    }
  },
} satisfies Feature<SettingsOf<typeof settings>>
