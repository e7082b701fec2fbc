/** The JSON of a flow. */
import * as z from 'zod'
import { stepSchema, summarySchema } from './flow.ts'

/** A flow in the list: its summary without what only the list needs. */
export const listedFlowSchema = summarySchema.omit({ storedAt: true })

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
/** A step of a flow, with the explanation of each parameter. */
export const stepViewSchema = stepSchema.extend({
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
/** A flow with its steps. */
export const flowViewSchema = listedFlowSchema.extend({
  imported: z.boolean(),
  omitted: z.number().int(),
  steps: z.array(stepViewSchema),
})
