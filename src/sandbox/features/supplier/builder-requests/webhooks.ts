import { createHmac, randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import * as z from 'zod'
import { leaveNotice, problem } from '../../../pages.ts'
import { ownBusiness } from '../business-setup/index.ts'

/** A supplier's registration of a webhook. */
export const webhookSchema = z.object({ url: z.url({ protocol: /^https?$/ }), secret: z.string().min(1) })
type Webhook = z.infer<typeof webhookSchema>

/** The delivery of one event to a webhook, with the latest response: a status, or the reason why it is missing. `at`: ISO 8601. */
type Delivery = Record<'id' | 'type' | 'bxcontext' | 'at' | 'body' | 'response', string> & { tries: number }

/** The header of the signature: hex of HMAC-SHA256 over the raw body. */
export const SIGNATURE_HEADER = 'X-Webhook-Signature'
const TIMEOUT_MS = 5_000
const MAX_DELIVERIES = 50

export type Webhooks = ReturnType<typeof createWebhooks>

/** Signed deliveries to the webhooks of businesses (specification 6). A person can resend unacknowledged deliveries. */
export function createWebhooks(webhooks: Readonly<Record<string, Webhook>>) {
  const deliveries: Delivery[] = []

  /** Posts the event and records the response in the delivery. */
  async function deliver(delivery: Delivery): Promise<void> {
    const webhook = webhooks[delivery.bxcontext]
    if (!webhook) return
    const { body } = delivery
    delivery.tries++
    const signature = createHmac('sha256', webhook.secret).update(body).digest('hex')
    const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await fetch(webhook.url, { method: 'POST', body, redirect: 'manual', signal, headers })
      await response.body?.cancel()
      delivery.response = String(response.status)
    } catch (error) {
      delivery.response = `no answer (${error instanceof Error ? error.name : 'unknown'})`
    }
  }

  /** Sends the same event once more, as an unreliable network might. */
  const repeat: RequestHandler<{ bxcontext: string; id: string }> = async (req, res) => {
    const business = ownBusiness(req, res)
    if (!business) return
    const delivery = deliveries.find(
      ({ id, bxcontext }) => id === req.params.id && bxcontext === business.bxcontext,
    )
    if (!delivery) return problem(res, 404, 'This delivery no longer exists.', req.account)
    await deliver(delivery)
    leaveNotice(res, 'The event was sent again. The app recognises it by its id and does nothing twice.')
    res.redirect(303, '/business-setup')
  }

  return {
    repeat,
    /** Sends an event to the business's webhook, if it has one. */
    emit(bxcontext: string, type: string, data: object): void {
      if (!webhooks[bxcontext]) return
      const [id, at] = [`evt_${randomUUID()}`, new Date().toISOString()]
      const body = JSON.stringify({ id, type, occurredAt: at, data: { bxcontext, ...data } })
      const delivery = { id, type, bxcontext, at, tries: 0, response: 'pending', body }
      deliveries.unshift(delivery)
      deliveries.length = Math.min(deliveries.length, MAX_DELIVERIES)
      void deliver(delivery)
    },
    of: (bxcontext: string) => deliveries.filter((delivery) => delivery.bxcontext === bxcontext),
  }
}
