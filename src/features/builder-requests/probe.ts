import { createHmac } from 'node:crypto'
import type { Delivery, Probe } from '../feature.ts'
import { BUILDER_REQUESTS_SCOPE, builderRequestSchema, PATHS, webhookEventSchema } from './contract.ts'
import type { BuilderRequestsSettings } from './settings.ts'

/** Reads builder requests, and checks the webhooks that arrived while the probe was running. */
export async function probeBuilderRequests(probe: Probe, settings: BuilderRequestsSettings): Promise<void> {
  const answer = await probe.call(PATHS.list)
  const requests = probe.recordsOf(answer, PATHS.list)
  if (!requests) {
    const seen = answer ? `${answer.status}, not an array` : 'no answer'
    probe.differ('builder-request', `GET ${PATHS.list} (scope ${BUILDER_REQUESTS_SCOPE}): ${seen}`, false)
  } else if (requests.length > 0) probe.checkFields('builder-request', builderRequestSchema, requests)
  else
    probe.notSeen('builder-request', 'There are no builder requests: give consent as a supplier who has one.')
  checkWebhooks(probe, settings)
}

function checkWebhooks(probe: Probe, settings: BuilderRequestsSettings): void {
  const [delivery] = probe.deliveries.filter(({ path }) => path === '/webhooks/platform')
  if (!delivery) {
    const how =
      'No webhook arrived. While the probe is running, ask the platform to send one to `BASE_URL` with `/webhooks/platform`, for example by a new builder request.'
    for (const id of ['webhook-signature', 'webhook-event']) probe.notSeen(id, how)
    return
  }
  checkSignature(probe, delivery, settings)
  const event = webhookEventSchema.safeParse(jsonOf(delivery.body))
  const { id, type, data } = event.success ? event.data : {}
  if (event.success && id && type && data)
    probe.checkFields('webhook-event', webhookEventSchema, [jsonOf(delivery.body)])
  else
    probe.differ(
      'webhook-event',
      'it has no text fields `id` and `type`, and no object `data`',
      event.success,
    )
}

const ENCODINGS = ['hex', 'base64', 'base64url'] as const

/** Looks for the signature: first where it is assumed, then in every header and encoding. */
function checkSignature(
  probe: Probe,
  { headers, body }: Delivery,
  { webhookSecrets, webhookHeader }: BuilderRequestsSettings,
): void {
  if (webhookSecrets.length === 0) {
    const how = 'A webhook arrived. Set `PLATFORM_WEBHOOK_SECRET` to check its signature.'
    probe.notSeen('webhook-signature', how)
    return
  }
  for (const encoding of ENCODINGS) {
    for (const secret of webhookSecrets) {
      const expected = createHmac('sha256', secret).update(body).digest(encoding)
      const found = Object.entries(headers).find(([, value]) => value.includes(expected))
      if (!found) continue
      const [name, value] = found
      const isAssumed =
        encoding === 'hex' &&
        name === webhookHeader.toLowerCase() &&
        [expected, `sha256=${expected}`].includes(value)
      const form = value === expected || value === `sha256=${expected}` ? '' : ', with other text around it'
      const seen = `HMAC-SHA256 as ${encoding} in \`${name}\`${form}`
      if (isAssumed) probe.confirm('webhook-signature', seen)
      else probe.differ('webhook-signature', seen, false)
      return
    }
  }
  const names = Object.keys(headers).filter((name) => /sign|hmac|digest/.test(name))
  const others = names.length > 0 ? `; headers that may have the signature: ${names.join(', ')}` : ''
  const seen = `no header has an HMAC-SHA256 of the body with \`PLATFORM_WEBHOOK_SECRET\`${others}`
  probe.differ('webhook-signature', seen, false)
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
