import * as z from 'zod'
import type { Operation } from '../../web/openapi.ts'
import { builderRequestSchema, webhookEventSchema } from './contract.ts'

const errors = ['not_connected', 'connection_revoked', 'insufficient_scope', 'platform_unavailable']
const path = '/connections/:bxcontext/builder-requests'
const decision = (status: 'accepted' | 'rejected') =>
  z.object({ integrationConnectionId: z.string(), status: z.literal(status) })

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path,
    summary: 'List the pending builder requests',
    response: z.object({ items: z.array(builderRequestSchema) }),
    errors,
  },
  {
    method: 'get',
    path: `${path}/live`,
    summary: 'Server-sent events: `changed` when the list changes',
    response: z.string(),
    responseType: 'text/event-stream',
    errors,
  },
  {
    method: 'post',
    path: `${path}/:id/accept`,
    summary: 'Accept a builder request',
    response: decision('accepted'),
    errors: [...errors, 'not_found'],
  },
  {
    method: 'post',
    path: `${path}/:id/reject`,
    summary: 'Reject a builder request',
    response: decision('rejected'),
    errors: [...errors, 'not_found'],
  },
  {
    method: 'post',
    path: '/webhooks/platform',
    summary: 'Receive an event from the platform, authenticated by its signature',
    body: webhookEventSchema,
    bodyType: 'application/json',
    status: 202,
    response: z.object({ received: z.string(), fresh: z.boolean() }),
    errors: [
      'webhook_disabled',
      'invalid_signature',
      'unsupported_media_type',
      'invalid_event',
      'stale_event',
    ],
  },
]
