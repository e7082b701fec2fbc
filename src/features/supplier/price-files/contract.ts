/** The platform's catalogue imports API: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import type { Assumption } from '../../../connect/index.ts'
import { PATHS as CATALOGUE_PATHS, CATALOGUES_SCOPE } from '../../catalogues/contract.ts'
import { texts } from './texts.ts'

/** What this feature needs the scope for. */
export const SCOPES = { [CATALOGUES_SCOPE]: texts.reason }

const importOf = (catalogueId: string, batchId: string) =>
  `${CATALOGUE_PATHS.catalogue(catalogueId)}/import/${encodeURIComponent(batchId)}`

/** Paths below `{base_url}`: given 4.4. */
export const PATHS = {
  start: (catalogueId: string) => `${CATALOGUE_PATHS.catalogue(catalogueId)}/import/start`,
  import: importOf,
  items: (catalogueId: string, batchId: string) => `${importOf(catalogueId, batchId)}/items`,
} as const

export { type Item, itemsBody, MAX_BATCH } from './batches.ts'

/** given 2.5: chosen by the caller, unique per catalogue; assumed: up to 100 letters, digits, `-`, `_` and dots. */
export const batchIdSchema = z
  .string()
  .regex(/^[\w-][\w.-]{0,99}$/, 'must be 1 to 100 letters, digits, - _ or dots, not starting with a dot')

/** A count: a number, or a text of digits. Anything else becomes null. */
const count = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .nullish()
  .catch(null)

/** assumed: the state of an import job. The counts are of distinct items and may be absent. */
export const importJobSchema = z.looseObject({
  batchId: z.string().nullish(),
  status: z.string().min(1),
  itemsReceived: count,
  itemsProcessed: count,
  message: z.string().nullish(),
})
export type ImportJob = z.infer<typeof importJobSchema>

/**
 * assumed: what the state of an import job means. If it begins with "complete", the job is completed. It has problems if the state
 * says "error" or if the job counts rows that failed. If the state begins with "fail", "cancel" or "reject", or has "error" in it,
 * the job has failed. Any other state means that it is not finished.
 */
export function outcomeOf(job: ImportJob): 'unfinished' | 'completed' | 'problems' | 'failed' {
  const state = job.status.trim().toLowerCase()
  if (state.startsWith('complete'))
    return state.includes('error') || failedRows(job) > 0 ? 'problems' : 'completed'
  return /^(fail|cancel|reject)|error/.test(state) ? 'failed' : 'unfinished'
}

/** The most rows that a member with "fail", "error" or "reject" in its name counts or lists. */
const failedRows = (job: ImportJob): number =>
  Object.entries(job).reduce((most, [name, value]) => {
    if (!/fail|error|reject/i.test(name)) return most
    return Math.max(most, Array.isArray(value) ? value.length : (count.parse(value) ?? 0))
  }, 0)

/** Items that the platform has rejected, and what it says of the first ones. */
export interface Rejected {
  count: number
  message: string
}

const items = z.array(z.unknown()).catch([])
/** assumed: an answer to an upload may list the items that it rejects under one of these names. */
const uploadAnswerSchema = z.object({ errors: items, rejected: items, failed: items })
const MAX_MESSAGE = 500

/** The items that an answer to an upload lists as rejected. Without such a list, all items count as accepted. */
export function rejectedIn(answer: unknown): Rejected {
  const lists = Object.values(uploadAnswerSchema.safeParse(answer).data ?? {})
  const rejected = lists.find((list) => list.length > 0) ?? []
  const message = rejected.length === 0 ? '' : JSON.stringify(rejected).slice(0, MAX_MESSAGE)
  return { count: rejected.length, message }
}

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'start-import',
    topic: 'Starting an import',
    assumed:
      '`{batchId}`, 1 to 100 letters, digits, `-`, `_`, dots. Whatever the platform answers to an existing batch id, polling finds the job.',
    importance: 2,
    code: 'batchIdSchema',
    cure: 'Change the path in `PATHS` or the body that starts an import.',
  },
  {
    id: 'item',
    topic: 'An item',
    assumed:
      '`{code, name?, description?, unit?, category?, price}`. Codes are unique within a catalogue, without regard to capitals. The price is in dollars before tax.',
    importance: 2,
    code: 'batches.ts#Item',
    cure: 'Rename the fields.',
  },
  {
    id: 'upload-items',
    topic: 'Uploading items',
    assumed:
      '`{items: [...]}`; any 2xx with JSON or an empty body is a success. Items that the answer lists under `errors`, `rejected` or `failed` were not accepted.',
    importance: 2,
    code: 'batches.ts#itemsBody',
    cure: 'Change the body.',
  },
  {
    id: 'import-state',
    topic: 'The state of an import',
    assumed:
      '`{batchId, status, itemsReceived?, itemsProcessed?, message?}`; a count may be text. Capitals in `status` do not matter. If `status` begins with `complete`, the import is completed; it has problems if `status` contains `error`, or if a member with `fail`, `error` or `reject` in its name counts or lists any. If `status` begins with `fail`, `cancel` or `reject`, or contains `error`, the import has failed. With any other `status`, the app polls again. We treat a completed import that received or processed fewer items than were sent as failed. A finished import accepts no more items.',
    importance: 2,
    code: 'importJobSchema',
    cure: 'Rename the fields in the schema, and change the final states in `outcomeOf`.',
  },
]
