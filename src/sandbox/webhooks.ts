import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Sql } from './database.ts'

export interface Webhook {
  url: string
  secret: string
}

/** One event's way to its webhook, for the Business Setup page. */
export interface Delivery {
  id: string
  type: string
  context: string
  /** ISO 8601. */
  at: string
  tries: number
  /** The latest answer: a status, or why there was none. */
  answer: string
  delivered: boolean
}

/** The header that carries the signature: hex of HMAC-SHA256 over the raw body. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature'
/** Pauses before the repeats of a delivery that failed, in ms. */
const PAUSES = [1_000, 5_000, 25_000, 120_000]
const PATIENCE_MS = 5_000
const KEPT = 50

export type Webhooks = ReturnType<typeof createWebhooks>

/** Webhooks of businesses: registration, signed delivery, repeats (specification 6). */
export function createWebhooks(sql: Sql) {
  const deliveries: (Delivery & { body: string })[] = []
  const timers = new Set<NodeJS.Timeout>()

  const of = (context: string): Webhook | undefined =>
    sql
      .all('SELECT url, secret FROM webhooks WHERE context = ?', context)
      .map((row) => ({ url: String(row.url), secret: String(row.secret) }))[0]

  async function deliver(delivery: Delivery & { body: string }, pauses: number[]): Promise<void> {
    const webhook = of(delivery.context)
    if (!webhook) return
    const { body } = delivery
    delivery.tries++
    try {
      const answer = await fetch(webhook.url, {
        ...{ method: 'POST', body, redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) },
        headers: {
          'content-type': 'application/json',
          [SIGNATURE_HEADER]: createHmac('sha256', webhook.secret).update(body).digest('hex'),
        },
      })
      await answer.body?.cancel()
      delivery.answer = String(answer.status)
      delivery.delivered = answer.ok
    } catch (error) {
      delivery.answer = `no answer (${(error as Error).name})`
    }
    const [pause, ...later] = pauses
    if (delivery.delivered || pause === undefined) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      void deliver(delivery, later)
    }, pause)
    timer.unref()
    timers.add(timer)
  }

  return {
    of,
    register(context: string, url: string, secret?: string): Webhook {
      const webhook = { url, secret: secret ?? of(context)?.secret ?? randomBytes(24).toString('base64url') }
      sql.run('INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?)', context, url, webhook.secret)
      return webhook
    },
    remove: (context: string) => void sql.run('DELETE FROM webhooks WHERE context = ?', context),
    /** Sends an event to the business's webhook, if it has one, and again until it is taken. */
    emit(context: string, type: string, data: object): void {
      const id = `evt_${randomUUID()}`
      const at = new Date().toISOString()
      const body = JSON.stringify({ id, type, occurredAt: at, data: { bxcontext: context, ...data } })
      if (!of(context)) return
      const delivery = { id, type, context, at, tries: 0, answer: 'on its way', delivered: false, body }
      deliveries.unshift(delivery)
      deliveries.length = Math.min(deliveries.length, KEPT)
      void deliver(delivery, PAUSES)
    },
    /** The same event once more, as a network that repeats itself would. */
    async repeat(context: string, id: string): Promise<boolean> {
      const delivery = deliveries.find((known) => known.id === id && known.context === context)
      if (delivery) await deliver(delivery, [])
      return Boolean(delivery)
    },
    deliveries: (context: string): Delivery[] =>
      deliveries.filter((delivery) => delivery.context === context),
    close: () => timers.forEach(clearTimeout),
  }
}
