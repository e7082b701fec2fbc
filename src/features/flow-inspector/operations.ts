import * as z from 'zod'
import type { Operation } from '../../web/openapi.ts'
import { parameterSchema, stepSchema, summarySchema as storedSummarySchema } from './flow.ts'
import { STAGES } from './pauses.ts'
import { resultSchema } from './scenarios/runner.ts'
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
    method: 'post',
    path: '/flows/step-by-step',
    summary: 'Turn the step-by-step mode of this browser session on or off',
    body: z.object({ on: z.boolean(), returnTo: z.string().optional() }),
    response: z.object({ on: z.boolean() }),
  },
  {
    method: 'get',
    path: '/flows/pauses/:id',
    summary: 'The next request of a connect flow that is paused',
    response: z.object({
      stage: z.enum(STAGES),
      request: z.object({
        method: z.string(),
        url: z.string(),
        parameters: z.array(parameterSchema),
      }),
      flow: z.string().nullable(),
    }),
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/flows/pauses/:id/continue',
    summary: 'Continue a connect flow that is paused',
    status: 303,
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/connections/:bxcontext/tokens',
    summary: "What is known of a connection's tokens, without the tokens",
    response: tokenPanelSchema,
    errors: ['not_connected', 'connection_revoked'],
  },
  {
    method: 'get',
    path: '/scenarios',
    summary: 'List the scenarios with their latest results',
    response: z.object({
      scenarios: z.array(
        z.object({
          name: z.string(),
          title: z.string(),
          expect: z.string(),
          result: resultSchema.nullable(),
        }),
      ),
    }),
  },
  {
    method: 'post',
    path: '/scenarios/:id/run',
    summary: 'Run a scenario between this app and the sandbox',
    response: resultSchema,
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/scenarios/reset',
    summary: "Reset the sandbox, and the user's connections and flows",
    response: z.object({ reset: z.literal(true) }),
  },
]
