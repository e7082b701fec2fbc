/** The platform's catalogue imports API: given and assumed, as in `connect/platform/contract.ts`. */
import * as z from 'zod'
import type { Assumption } from '../../../connect/index.ts'
import { PATHS as CATALOGUE_PATHS, CATALOGUES_SCOPE } from '../../catalogues/contract.ts'
import { texts } from './import-texts.ts'
import type { Item } from './items.ts'

/** Why this feature needs the scope. */
export const SCOPES = { [CATALOGUES_SCOPE]: texts.reason }

const importOf = (catalogueId: string, batchId: string) =>
  `${CATALOGUE_PATHS.catalogue(catalogueId)}/import/${encodeURIComponent(batchId)}`

/** Paths below `{base_url}`: given 4.4. */
export const PATHS = {
  start: (catalogueId: string) => `${CATALOGUE_PATHS.catalogue(catalogueId)}/import/start`,
  import: importOf,
  items: (catalogueId: string, batchId: string) => `${importOf(catalogueId, batchId)}/items`,
} as const

/** given 8: maximum number of items per upload. */
export const MAX_BATCH = 1000

/** assumed: the body of an upload. */
export const itemsBody = (items: readonly Item[]) => ({ items })

/** A count: a number, or a text of digits. */
const count = z.preprocess((value) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : value), z.number())

/** Whether a member of an answer is empty. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length === 0
    : /^(null|undefined|false|0|)$/.test(String(value))
const empty = z.unknown().refine(isEmpty).optional()

/**
 * assumed: the successful answer to an upload of this many items. It is empty, or has only these members. `received`
 * counts the items; `errors`, `rejected` and `failed` list those that were not accepted. No other answer is understood.
 */
export const uploadAnswerSchema = (items: number) =>
  z
    .strictObject({
      isSuccessful: z.literal(true).nullish(),
      error: empty,
      batchId: z.string().nullish(),
      received: count.pipe(z.number().min(items)).nullish(),
      errors: empty,
      rejected: empty,
      failed: empty,
    })
    .nullish()

/** assumed: the state of an import job. The counts are of distinct items and may be absent. */
const jobSchema = z.looseObject({
  batchId: z.string().nullish(),
  status: z.string().min(1),
  itemsReceived: count.nullish(),
  itemsProcessed: count.nullish(),
  message: z.string().nullish(),
})
export type ImportJob = z.infer<typeof jobSchema>

/**
 * assumed: the other members of a completed job must be empty, ids, texts or flags. Otherwise it is unclear, because other counts,
 * lists and objects may be about items that did not arrive.
 */
export const importJobSchema = jobSchema.superRefine((job, context) => {
  const isPlain = ([name, value]: [string, unknown]) =>
    isEmpty(value) ||
    name in jobSchema.shape ||
    /^id$|Id$|_id$/.test(name) ||
    (!FAILED.test(name) && typeof value !== 'object' && !count.safeParse(value).success)
  const [unknown] = Object.entries(job).find((member) => !isPlain(member)) ?? []
  if (outcomeOf(job) === 'completed' && unknown !== undefined)
    context.addIssue({ code: 'custom', path: [unknown], message: 'is not understood' })
})

/** Names of members that count or list failed items. */
const FAILED = /fail|error|reject/i

/**
 * assumed: the meaning of an import job's state. Exactly "complete" or "completed" is success. A longer state that begins with
 * "complete" means that there were problems, and so does a job that also counts or lists failures. If the state begins with "fail",
 * "cancel" or "reject", or contains "error", the job has failed. Any other state means that the job is not finished.
 */
export function outcomeOf(job: ImportJob): 'unfinished' | 'completed' | 'problems' | 'failed' {
  const state = job.status.trim().toLowerCase()
  const isFailure = ([name, value]: [string, unknown]) =>
    FAILED.test(name) && !isEmpty(value) && (Array.isArray(value) || count.safeParse(value).success)
  if (state.startsWith('complete'))
    return /^completed?$/.test(state) && !Object.entries(job).some(isFailure) ? 'completed' : 'problems'
  return /^(fail|cancel|reject)|error/.test(state) ? 'failed' : 'unfinished'
}

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'start-import',
    topic: 'Starting an import',
    assumed:
      '`{batchId}`, 1 to 100 letters, digits, `-`, `_`, dots. Whatever the platform answers to an existing batch id, polling finds the job. `isSuccessful: false` and `error` are a refusal.',
    importance: 2,
    code: 'PATHS',
    cure: 'Change the path in `PATHS` or the body that starts an import.',
  },
  {
    id: 'item',
    topic: 'An item',
    assumed:
      '`{code, name?, description?, unit?, category?, price}`. Codes are unique within a catalogue, without regard to capitals. The price is in dollars before tax.',
    importance: 2,
    code: 'items.ts#Item',
    cure: 'Rename the fields.',
  },
  {
    id: 'upload-items',
    topic: 'Uploading items',
    assumed:
      '`{items: [...]}`. The answer is empty, or has only `batchId`, `received` (a count), `isSuccessful`, `error`, and `errors`, `rejected`, `failed`, which list items that were not accepted. After any other answer, the import ends with a problem.',
    importance: 2,
    code: 'uploadAnswerSchema',
    cure: 'Change the body, or add the members of the answer.',
  },
  {
    id: 'import-state',
    topic: 'The state of an import',
    assumed:
      '`{batchId, status, itemsReceived?, itemsProcessed?, message?}`; a count may be text. Capitals in `status` do not matter. If `status` begins with `complete`, the import is completed; it has problems if `status` has more than `complete` or `completed`, or if a member with `fail`, `error` or `reject` in its name counts or lists any. A completed import with other counts, lists or objects ends with a problem, because they may be about items that did not arrive. If `status` begins with `fail`, `cancel` or `reject`, or contains `error`, the import has failed. With any other `status`, the app polls again. We treat a completed import that received or processed fewer items than were sent as failed. A finished import accepts no more items.',
    importance: 2,
    code: 'importJobSchema',
    cure: 'Rename the fields in the schema, and change the final states in `outcomeOf`.',
  },
]
