import { createHmac, randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Registrations } from '../catalogues/registrations.ts'

/** A webhook as a supplier registers it. */
export const webhookSchema = z.object({ url: z.url({ protocol: /^https?$/ }), secret: z.string() })
export type Webhook = z.infer<typeof webhookSchema>

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
  body: string
}

/** The header of the signature: hex of HMAC-SHA256 over the raw body. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature'
const TIMEOUT_MS = 5_000
const MAX_DELIVERIES = 50

export type Webhooks = ReturnType<typeof createWebhooks>

/** Signed deliveries to the webhooks of businesses (specification 6). A person sends again what was not acknowledged. */
export function createWebhooks(registrations: Registrations<Webhook>) {
  const deliveries: Delivery[] = []

  /** Posts the event and records the response in the delivery. */
  async function deliver(delivery: Delivery): Promise<void> {
    const webhook = registrations.find(delivery.bxcontext)
    if (!webhook) return
    delivery.tries++
    delivery.response = await post(webhook, delivery.body)
  }

  return {
    ...registrations,
    /** Sends an event to the business's webhook, if it has one. */
    emit(bxcontext: string, type: string, data: object): void {
      if (!registrations.find(bxcontext)) return
      const id = `evt_${randomUUID()}`
      const at = new Date().toISOString()
      const body = JSON.stringify({ id, type, occurredAt: at, data: { bxcontext, ...data } })
      const delivery = { id, type, bxcontext, at, tries: 0, response: 'pending', body }
      deliveries.unshift(delivery)
      deliveries.length = Math.min(deliveries.length, MAX_DELIVERIES)
      void deliver(delivery)
    },
    /** Sends the same event once more, as an unreliable network might. */
    async repeat(bxcontext: string, id: string): Promise<boolean> {
      const delivery = deliveries.find((known) => known.id === id && known.bxcontext === bxcontext)
      if (delivery) await deliver(delivery)
      return delivery !== undefined
    },
    deliveries: (bxcontext: string): Delivery[] =>
      deliveries.filter((delivery) => delivery.bxcontext === bxcontext),
  }
}

/** Posts an event; resolves to the status, or to why there is none. */
async function post({ url, secret }: Webhook, body: string): Promise<string> {
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(url, { method: 'POST', body, redirect: 'manual', signal, headers })
    await response.body?.cancel()
    return String(response.status)
  } catch (error) {
    return `no answer (${error instanceof Error ? error.name : 'unknown'})`
  }
}
