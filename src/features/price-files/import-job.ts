import * as z from 'zod'
import type { Key } from '../../connect/store/store.ts'
import { FIELDS } from './columns.ts'

/** The format that this version of the app writes. */
export const FORMAT = 3

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
  bxcontext: z.string(),
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
  /** Why the file cannot be sent with the chosen columns. */
  mappingErrors: z.array(z.string()),
  /** What the check found. */
  rows: count,
  validRows: count,
  invalidRows: count,
  /** The first rows as they are in the file. */
  sample: z.array(z.array(z.string())),
  /** The first items as they will be sent, and the first problems. */
  preview: z.array(
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
      rows: count,
      sent: count,
      batches: count,
      rejected: count,
      processed: z.number().nullable(),
      waiting: z.string().nullable(),
    })
    .nullable(),
  /** Why it failed or cannot be read, for the user. */
  failure: z.string().nullable(),
})
export type Job = z.infer<typeof jobSchema>

/** Reads a stored job of this or an earlier format; null if it is neither. */
export function parseJob(value: string): Job | null {
  try {
    const parsed = jobSchema.safeParse(migrate(JSON.parse(value)))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** Format 1 had no `format`, and at first not all fields; format 2 had other names for some. */
function migrate(record: Record<string, unknown>): unknown {
  if (record.format === FORMAT) return record
  const { context, doubts = [], good = 0, bad = 0, first = [], ...rest } = record
  const absent = {
    headings: [],
    columns: {},
    sample: [],
    problems: [],
    rows: 0,
    progress: null,
    failure: null,
  }
  return {
    ...absent,
    ...rest,
    bxcontext: context,
    mappingErrors: doubts,
    validRows: good,
    invalidRows: bad,
    preview: first,
    format: FORMAT,
  }
}

export const JOB = 'import'
export const jobKey = (userId: string, id: string): Key => ({ kind: JOB, owner: userId, id })
/** Held and renewed by the process that works on the job. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
