import * as z from 'zod'
import type { KeyValueStore } from '../../connect/stores.ts'
import { accessControlSchema } from './contract.ts'
import { createHistory, type History } from './history.ts'

/** Access to a catalogue that a user granted here. The platform has no list of it. */
export const grantSchema = accessControlSchema.extend({
  catalogueId: z.string(),
  catalogueName: z.string(),
  /** The name of the user. */
  grantedBy: z.string(),
  grantedAt: z.iso.datetime(),
})
export type Grant = z.infer<typeof grantSchema>

export const createGrants = (store: KeyValueStore): History<Grant> =>
  createHistory(store, { kind: 'catalogue-grant', schema: grantSchema, timeOf: ({ grantedAt }) => grantedAt })
