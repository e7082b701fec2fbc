import * as z from 'zod'
import type { Operation } from '../../web/openapi.ts'
import { stepSchema, summarySchema as storedSummarySchema } from './flow.ts'
import { tokenPanelSchema } from './token-panel.ts'

/** A summary without what only the list needs. */
const summarySchema = storedSummarySchema.omit({ storedAt: true })

const explanationSchema = z.object({
  what: z.string(),
  madeBy: z.string(),
  mustEqual: z.string(),
  checkedBy: z.string(),
  attack: z.string(),
  reference: z.string(),
})
const explained = z.object({
  name: z.string(),
  value: z.string().optional(),
  fingerprint: z.string().optional(),
  explanation: explanationSchema,
})
const { request, response } = stepSchema.shape
const shownStepSchema = stepSchema.extend({
  number: z.number().int(),
  request: request
    .unwrap()
    .extend({ parameters: z.array(explained) })
    .optional(),
  response: response
    .unwrap()
    .extend({ parameters: z.array(explained) })
    .optional(),
})
const flowResponse = summarySchema.extend({
  imported: z.boolean(),
  omitted: z.number().int(),
  steps: z.array(shownStepSchema),
})

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/flows',
    summary: "List the user's recorded flows",
    response: z.object({ flows: z.array(summarySchema) }),
  },
  {
    method: 'post',
    path: '/flows/import',
    summary: 'Import a flow that was exported as JSON',
    bodyType: 'multipart/form-data',
    body: z.object({ file: z.string() }),
    status: 201,
    response: z.object({ id: z.string() }),
    errors: ['invalid_input', 'payload_too_large'],
  },
  {
    method: 'get',
    path: '/flows/:id',
    summary: 'Get a flow with its steps, secrets masked',
    response: flowResponse,
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/flows/live',
    summary: 'Server-sent events: `changed` when the list changes',
    response: z.string(),
    responseType: 'text/event-stream',
  },
  {
    method: 'get',
    path: '/flows/:id/live',
    summary: 'Server-sent events: `changed` when the flow has new steps, `done` when it has ended',
    response: z.string(),
    responseType: 'text/event-stream',
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/flows/:id/present/:number',
    summary: 'The same step; as a page, for presenting it',
    response: shownStepSchema,
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/flows/:id/export/:format',
    summary: 'Export a flow as html, json or mermaid',
    response: z.string(),
    responseType: 'application/octet-stream',
    errors: ['not_found', 'invalid_input'],
  },
  {
    method: 'get',
    path: '/flows/:id/steps/:number',
    summary: 'Get one step of a flow',
    response: shownStepSchema,
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/connections/:bxcontext/tokens',
    summary: "What is known of a connection's tokens, without the tokens",
    response: tokenPanelSchema,
    errors: ['not_connected', 'connection_revoked'],
  },
]
