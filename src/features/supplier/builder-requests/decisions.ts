import * as z from 'zod'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { createHistory, type History } from '../../catalogues/history.ts'

/** What became of a builder's request here. The platform has no list of past requests. */
export const decisionSchema = z.object({
  integrationConnectionId: z.string(),
  builder: z.string().nullable(),
  externalRef: z.string().nullable(),
  decision: z.enum(['accepted', 'rejected']),
  /** The name of the user who decided. */
  decidedBy: z.string(),
  decidedAt: z.iso.datetime(),
})
export type Decision = z.infer<typeof decisionSchema>

export const createDecisions = (store: KeyValueStore): History<Decision> =>
  createHistory(store, {
    kind: 'builder-decision',
    schema: decisionSchema,
    timeOf: ({ decidedAt }) => decidedAt,
  })
