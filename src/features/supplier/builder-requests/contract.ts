/** The platform's builder requests API and webhook: given and assumed, as in `connect/platform/contract.ts`. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Assumption, idSchema, platform } from '../../../connect/index.ts'
import { texts } from './texts.ts'

/** assumed: the scope of catalogues covers builder requests. */
export const BUILDER_REQUESTS_SCOPE = platform.scopes.catalogues

/** Why this feature needs the scope. */
export const SCOPES = { [BUILDER_REQUESTS_SCOPE]: texts.reason }

const REQUESTS = '/catalogues/incomingIntegrationConnections'
const query = (id: string) => `?integrationConnectionId=${encodeURIComponent(id)}`

/** Paths below `{base_url}`: given 4.4, unless marked. */
export const PATHS = {
  list: REQUESTS,
  accept: (id: string) => `${REQUESTS}/accept${query(id)}`,
  /** assumed. */
  reject: (id: string) => `${REQUESTS}/reject${query(id)}`,
} as const

const text = z.string().nullish()
/** given 2.5: `integrationConnectionId`; assumed: the rest. */
export const builderRequestSchema = z.looseObject({
  integrationConnectionId: idSchema,
  externalRef: text,
  requestedAt: text,
  builder: z.looseObject({ name: text, contact: text, email: text, phone: text, suburb: text }).nullish(),
})
export type BuilderRequest = z.infer<typeof builderRequestSchema>

/** A digest of the request's details on a page. The form sends it back, so that a decision applies only to the details shown. */
export function revisionOf(request: BuilderRequest): string {
  const ofBuilder = ['builder', 'name', 'contact', 'email', 'phone', 'suburb']
  const shown = JSON.stringify(request, [...ofBuilder, 'externalRef', 'requestedAt'])
  return createHash('sha256').update(shown).digest('base64url')
}

/** given 6: the only event type that is defined. */
export const BUILDER_REQUESTED = 'integration-connection.requested'

/**
 * assumed: the body of a webhook, as JSON or as a CloudEvent in structured mode. The specification
 * doesn't define it, so a body without a usable `id` or `type` is accepted as an event of unknown type.
 */
export const webhookEventSchema = z.looseObject(
  {
    id: z
      .union([z.string().min(1).max(200), z.int().transform(String)])
      .nullish()
      .catch(null),
    type: z.string().min(1).max(200).nullish().catch(null),
    /** `bxcontext` identifies the business. */
    data: z.looseObject({ bxcontext: platform.bxcontextSchema.nullish() }).nullish().catch(null),
  },
  'must be a JSON object',
)
export type WebhookEvent = z.infer<typeof webhookEventSchema>

/** assumed: the default header of the signature, the hex HMAC-SHA256 of the raw body, optionally prefixed by `sha256=`. */
export const WEBHOOK_HEADER = 'X-Webhook-Signature'

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'builder-request',
    topic: 'A builder request',
    assumed:
      '`{integrationConnectionId, externalRef?, requestedAt?, builder?: {name?, contact?, email?, phone?, suburb?}}`; the list is an array.',
    importance: 2,
    code: 'builderRequestSchema',
    cure: 'Rename the fields in the schema and in `views/supplier/builder-requests`; remove those that do not exist.',
  },
  {
    id: 'reject-builder-request',
    topic: 'Rejecting a builder request',
    assumed: '`POST /catalogues/incomingIntegrationConnections/reject?integrationConnectionId=`.',
    importance: 2,
    code: 'PATHS',
    cure: 'Change the path.',
  },
  {
    id: 'webhook-signature',
    topic: 'How a webhook is signed',
    assumed:
      'The hex HMAC-SHA256 of the raw body in `X-Webhook-Signature`, optionally prefixed by `sha256=`. If the body is compressed, the signature covers the bytes that were sent, not the unzipped ones.',
    setting: '`PLATFORM_WEBHOOK_HEADER`',
    importance: 1,
    code: 'delivery.ts#isSigned',
    cure: 'Set `PLATFORM_WEBHOOK_HEADER`, or change what is compared.',
  },
  {
    id: 'webhook-event',
    topic: 'The body of a webhook',
    assumed:
      'JSON `{id, type, data?: {bxcontext?}}`, or the same as `application/cloudevents+json`; plain or gzip. Any other JSON object is an event of unknown type, which its body identifies. An event without a bxcontext may concern any connection.',
    importance: 2,
    code: 'webhookEventSchema',
    cure: 'Change the schema to the fields that the platform sends.',
  },
]
