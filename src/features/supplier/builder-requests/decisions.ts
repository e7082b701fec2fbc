import * as z from 'zod'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { createHistory, doneSchema, type History } from '../../catalogues/history.ts'

/** A decision about a builder's request, made in this app. The app stores it, because the platform doesn't list past requests. */
export const decisionSchema = doneSchema.extend({
  integrationConnectionId: z.string(),
  builder: z.string().nullable(),
  externalRef: z.string().nullable(),
  decision: z.enum(['accepted', 'rejected']),
})
export type Decision = z.infer<typeof decisionSchema>

export const createDecisions = (store: KeyValueStore): History<Decision> =>
  createHistory(store, 'builder-decision', decisionSchema)
