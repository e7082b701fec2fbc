import * as z from 'zod'
import type { Key } from '../../connect/store/store.ts'
import { FIELDS } from './columns.ts'

/** The format that this version of the app writes. */
export const FORMAT = 2

const count = z.number().int().nonnegative()
const text = z.string().optional()
const problemSchema = z.object({ line: count, reason: z.string(), cells: z.array(z.string()) })
const columnsSchema = z.partialRecord(z.enum(FIELDS), count)

/**
 * A price file on its way into a catalogue, as the store keeps it: uploaded and checked, looked at by its user, sent,
 * reported. The file and the report of its problem rows are in the imports folder, under the job's id.
 */
export const jobSchema = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  userId: z.string(),
  context: z.string(),
  catalogueId: z.string(),
  catalogueName: z.string(),
  fileName: z.string(),
  bytes: count,
  /** The platform's name for this import; the same for every run of the job, so that a run resumes the one before. */
  batchId: z.string(),
  state: z.enum(['checking', 'ready', 'unreadable', 'running', 'completed', 'failed']),
  /** Times are in ms since 1970. */
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  headings: z.array(z.string()),
  columns: columnsSchema,
  /** Why the file cannot go as its columns are chosen. */
  doubts: z.array(z.string()),
  /** What the check found. */
  rows: count,
  good: count,
  bad: count,
  /** The first rows as they are in the file. */
  sample: z.array(z.array(z.string())),
  /** The first items as they will be sent, and the first problems. */
  first: z.array(
    z.object({
      code: z.string(),
      price: z.number(),
      name: text,
      description: text,
      unit: text,
      category: text,
    }),
  ),
  problems: z.array(problemSchema),
  progress: z
    .object({
      phase: z.enum(['starting', 'sending', 'processing']),
      ...{ rows: count, sent: count, batches: count, rejected: count },
      ...{ processed: z.number().nullable(), waiting: z.string().nullable() },
    })
    .nullable(),
  /** Why it failed, or cannot be read: in words for the user. */
  failure: z.string().nullable(),
})
export type Job = z.infer<typeof jobSchema>

/** Reads a stored job of this or an earlier format; null when it has neither. */
export function parseJob(value: string): Job | null {
  try {
    const parsed = jobSchema.safeParse(migrate(JSON.parse(value)))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** Format 1 had no `format`, and in its beginnings not all of these. */
function migrate(record: { format?: unknown }): unknown {
  if (record.format !== undefined) return record
  const absent = { headings: [], columns: {}, doubts: [], sample: [], first: [], problems: [] }
  return { ...absent, rows: 0, good: 0, bad: 0, progress: null, failure: null, ...record, format: FORMAT }
}

export const JOB = 'import'
export const jobKey = (userId: string, id: string): Key => ({ kind: JOB, owner: userId, id })
/** Held, and renewed, by the process that works on a job. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
