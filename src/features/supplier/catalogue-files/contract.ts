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

/** Whether a member of an answer is null, an empty text, an empty list or an empty object. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' ? Object.keys(value ?? {}).length === 0 : value === undefined || value === ''

/** A text in an answer. A status that tells of failure is never clear. */
const isClearText = (name: string, text: string, others: boolean): boolean => {
  if (name === 'message') return true
  if (/^(status|state|outcome|result)$/.test(name) && outcomeOf(text) === 'failed') return false
  return (others || name === 'status') && !count.safeParse(text).success
}

/** Names of members about items that did not arrive, and of flags that are false if they did not. */
const [NOT_ARRIVED, ARRIVED] = [
  /fail|error|reject|skip|ignor|warn|invalid|duplicat|remain|pending|missing/i,
  /success|^ok$|accept|complet|valid/i,
]

/**
 * assumed: the members of an answer that tells of success for this many items. Counts of items are at least as high. Members about
 * items that did not arrive are empty, `false` or 0. Other members are empty, ids, `true`, a message, a status, or (`others`) any
 * texts and flags. An answer with anything else may be about items that did not arrive.
 */
const requireSuccess =
  (items: number, { others }: { others: boolean }) =>
  (answer: Record<string, unknown>, context: z.RefinementCtx) => {
    const isClear = ([name, value]: [string, unknown]) => {
      if (/^(received|itemsReceived|itemsProcessed)$/.test(name)) return Number(value ?? items) >= items
      if (isEmpty(value)) return true
      if (typeof value === 'object') return false
      if (NOT_ARRIVED.test(name)) return /^(false|0)$/.test(String(value))
      if (/^id$|Id$|_id$/.test(name)) return true
      if (typeof value === 'string') return isClearText(name, value, others)
      return value === true || (value === false && others && !ARRIVED.test(name))
    }
    const [unclear] = Object.entries(answer).find((member) => !isClear(member)) ?? []
    if (unclear !== undefined)
      context.addIssue({ code: 'custom', path: [unclear], message: 'is not understood' })
  }

/** assumed: the answer to an upload of this many items; it may be empty. No other answer is understood. */
export const uploadAnswerSchema = (items: number) =>
  z
    .looseObject({})
    .superRefine(requireSuccess(items, { others: false }))
    .nullish()

/** assumed: the state of an import job with this many items. The counts are of distinct items and may be absent. */
export const importJobSchema = (items: number) =>
  z
    .looseObject({
      batchId: z.string().nullish(),
      status: z.string().min(1),
      itemsReceived: count.nullish(),
      itemsProcessed: count.nullish(),
      message: z.string().nullish(),
    })
    .superRefine((job, context) => {
      if (outcomeOf(job.status) === 'completed') requireSuccess(items, { others: true })(job, context)
    })
export type ImportJob = z.infer<ReturnType<typeof importJobSchema>>

/**
 * assumed: the meaning of an import job's status. Exactly "complete" or "completed" is success. If another status begins with
 * "complete", "fail", "cancel" or "reject", or contains "error", the job has failed. Otherwise it is not finished.
 */
export function outcomeOf(status: string): 'unfinished' | 'completed' | 'failed' {
  const state = status.trim().toLowerCase()
  if (/^completed?$/.test(state)) return 'completed'
  return /^(complete|fail|cancel|reject)|error/.test(state) ? 'failed' : 'unfinished'
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
      '`{items: [...]}`. The answer is empty, or contains only ids, `message`, a `status` that is not one of failure, members that are `true`, `received` (a count of all items), and empty members, such as `errors: []`. Members named after items that did not arrive, such as `rejected` or `skipped`, may be `false` or 0. After any other answer, the import ends with a problem.',
    importance: 2,
    code: 'uploadAnswerSchema',
    cure: 'Change the body, or add the members of the answer.',
  },
  {
    id: 'import-state',
    topic: 'The state of an import',
    assumed:
      '`{batchId, status, itemsReceived?, itemsProcessed?, message?}`; a count may be text. Capitals in `status` do not matter. `complete` and `completed` are success. If another `status` begins with `complete`, `fail`, `cancel` or `reject`, or contains `error`, the import has failed. With any other `status`, the app polls again. In a completed import, these counts are of all items, and other members are texts, flags, or as in the answer to an upload. Otherwise, it ends with a problem. A finished import accepts no more items.',
    importance: 2,
    code: 'importJobSchema',
    cure: 'Rename the fields in the schema, and change the final states in `outcomeOf`.',
  },
]
