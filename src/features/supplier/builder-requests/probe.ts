import { createHmac } from 'node:crypto'
import type { Probe, ReceivedRequest } from '../../../web/kit.ts'
import { BUILDER_REQUESTS_SCOPE, builderRequestSchema, PATHS, webhookEventSchema } from './contract.ts'
import { readEvent } from './delivery.ts'
import type { BuilderRequestsSettings } from './settings.ts'

/** Checks the webhooks that arrived while the doctor was running, and reads builder requests. */
export default async function probeBuilderRequests(
  probe: Probe,
  settings: BuilderRequestsSettings,
): Promise<void> {
  checkWebhooks(probe, settings)
  await checkRequests(probe)
}

async function checkRequests(probe: Probe): Promise<void> {
  const answer = await probe.call(PATHS.list)
  const place = `GET ${PATHS.list}`
  if (answer.status === 403)
    return probe.notSeen(
      'builder-request',
      `The consent does not include the scope \`${BUILDER_REQUESTS_SCOPE}\`.`,
    )
  const requests = answer.status === 200 ? probe.recordsOf(answer, PATHS.list) : undefined
  if (answer.status !== 200) probe.differ('builder-request', `${place}: ${answer.status}`, false)
  else if (requests?.length === 0)
    probe.notSeen('builder-request', 'There are no builder requests: give consent as a supplier who has one.')
  else if (requests) probe.checkFields('builder-request', builderRequestSchema, requests)
}

const WEBHOOK_PATH = '/webhooks/platform'

function checkWebhooks(probe: Probe, settings: BuilderRequestsSettings): void {
  const arrived = probe.received.filter(({ path }) => path === WEBHOOK_PATH)
  const unseen =
    arrived.length === 0
      ? `No webhook arrived. While the doctor is running, ask the platform to send one to \`BASE_URL\` with \`${WEBHOOK_PATH}\`, for example by a new builder request.`
      : 'A webhook arrived. Set `PLATFORM_WEBHOOK_SECRET` to check it.'
  if (arrived.length === 0 || settings.webhookSecrets.length === 0) {
    for (const id of ['webhook-signature', 'webhook-event']) probe.notSeen(id, unseen)
    return
  }
  // Anybody may have sent a delivery. Those that are signed are the platform's.
  const [signed] = arrived.flatMap((delivery) => signatureOf(delivery, settings) ?? [])
  if (!signed) {
    const seen = 'no header has an HMAC-SHA256 of the body with `PLATFORM_WEBHOOK_SECRET`'
    probe.differ('webhook-signature', seen, false)
    probe.notSeen('webhook-event', 'No signed webhook arrived.')
    return
  }
  probe.compare('webhook-signature', signed.isAssumed, signed.seen, false)
  checkEvent(probe, signed.delivery)
}

function checkEvent(probe: Probe, { headers, body }: ReceivedRequest): void {
  try {
    const event = readEvent(body, headers['content-encoding'])
    if (!event.id || !event.type || !event.data)
      probe.differ('webhook-event', 'it has no text fields `id` and `type`, and no object `data`', true)
    else probe.checkFields('webhook-event', webhookEventSchema, [event])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    probe.differ('webhook-event', `the app refuses it: ${why}`, false)
  }
}

const ENCODINGS = ['hex', 'base64', 'base64url'] as const

/** Finds the signature of a delivery, in any header and encoding; undefined if there is none. */
function signatureOf(
  delivery: ReceivedRequest,
  { webhookSecrets, webhookHeader }: BuilderRequestsSettings,
): { delivery: ReceivedRequest; isAssumed: boolean; seen: string } | undefined {
  const { headers, body } = delivery
  for (const encoding of ENCODINGS) {
    for (const secret of webhookSecrets) {
      const expected = createHmac('sha256', secret).update(body).digest(encoding)
      const [name, value] = Object.entries(headers).find(([, text]) => text.includes(expected)) ?? []
      if (name === undefined) continue
      const isPlain = value === expected || value === `sha256=${expected}`
      const isSet = name === webhookHeader.toLowerCase()
      const place =
        isSet || /^[\w-]{1,40}$/.test(name) ? `\`${isSet ? webhookHeader : name}\`` : 'another header'
      const seen = `HMAC-SHA256 as ${encoding} in ${place}${isPlain ? '' : ', with other text around it'}`
      return { delivery, isAssumed: encoding === 'hex' && isSet && isPlain, seen }
    }
  }
  return undefined
}
