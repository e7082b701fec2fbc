import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Sql } from '../../database.ts'

export interface Webhook {
  url: string
  secret: string
}

/** The delivery of one event to a webhook. */
export interface Delivery {
  id: string
  type: string
  bxcontext: string
  /** ISO 8601. */
  at: string
  tries: number
  /** The latest response: a status, or why there is none. */
  response: string
  delivered: boolean
  body: string
}

/** The header of the signature: hex of HMAC-SHA256 over the raw body. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature'
/** Delays before the retries of a failed delivery, in ms. */
const RETRY_DELAYS = [1_000, 5_000, 25_000, 120_000]
const TIMEOUT_MS = 5_000
const MAX_DELIVERIES = 50

export type Webhooks = ReturnType<typeof createWebhooks>

/** The webhooks of businesses: registration, signed delivery, retries (specification 6). */
export function createWebhooks(sql: Sql) {
  const deliveries: Delivery[] = []
  const retries = new Set<NodeJS.Timeout>()

  const find = (bxcontext: string): Webhook | undefined =>
    sql
      .all('SELECT url, secret FROM webhooks WHERE bxcontext = ?', bxcontext)
      .map(({ url, secret }) => ({ url: String(url), secret: String(secret) }))[0]

  async function deliver(delivery: Delivery, delays: number[]): Promise<void> {
    const webhook = find(delivery.bxcontext)
    if (!webhook) return
    await post(webhook, delivery)
    const [delay, ...rest] = delays
    if (delivery.delivered || delay === undefined) return
    const retry = setTimeout(() => {
      retries.delete(retry)
      void deliver(delivery, rest)
    }, delay)
    retry.unref()
    retries.add(retry)
  }

  return {
    find,
    register(bxcontext: string, url: string, given?: string): void {
      const secret = given ?? find(bxcontext)?.secret ?? randomBytes(24).toString('base64url')
      sql.run('INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?)', bxcontext, url, secret)
    },
    remove: (bxcontext: string) => void sql.run('DELETE FROM webhooks WHERE bxcontext = ?', bxcontext),
    /** Sends an event to the business's webhook, if it has one; retries until the webhook acknowledges it. */
    emit(bxcontext: string, type: string, data: object): void {
      if (!find(bxcontext)) return
      const id = `evt_${randomUUID()}`
      const at = new Date().toISOString()
      const body = JSON.stringify({ id, type, occurredAt: at, data: { bxcontext, ...data } })
      const delivery = { id, type, bxcontext, at, tries: 0, response: 'pending', delivered: false, body }
      deliveries.unshift(delivery)
      deliveries.length = Math.min(deliveries.length, MAX_DELIVERIES)
      void deliver(delivery, RETRY_DELAYS)
    },
    /** Sends the same event once more, as an unreliable network might. */
    async repeat(bxcontext: string, id: string): Promise<boolean> {
      const delivery = deliveries.find((known) => known.id === id && known.bxcontext === bxcontext)
      if (delivery) await deliver(delivery, [])
      return delivery !== undefined
    },
    deliveries: (bxcontext: string): Delivery[] =>
      deliveries.filter((delivery) => delivery.bxcontext === bxcontext),
    close: () => retries.forEach(clearTimeout),
  }
}

/** Posts the event and records the response in the delivery. */
async function post({ url, secret }: Webhook, delivery: Delivery): Promise<void> {
  const { body } = delivery
  delivery.tries++
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        [SIGNATURE_HEADER]: createHmac('sha256', secret).update(body).digest('hex'),
      },
    })
    await response.body?.cancel()
    delivery.response = String(response.status)
    delivery.delivered = response.ok
  } catch (error) {
    delivery.response = `no answer (${(error as Error).name})`
  }
}
