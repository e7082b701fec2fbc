import * as z from 'zod'
import type { KeyValueStore } from '../../connect/stores.ts'
import { accessControlSchema } from './contract.ts'
import { createHistory, doneSchema, type History } from './history.ts'

/** Access to a catalogue, granted by a user of this app. The platform doesn't list it. */
export const grantSchema = accessControlSchema.extend({
  ...doneSchema.shape,
  catalogueId: z.string(),
  catalogueName: z.string(),
})
export type Grant = z.infer<typeof grantSchema>

export const createGrants = (store: KeyValueStore): History<Grant> =>
  createHistory(store, 'catalogue-grant', grantSchema)
