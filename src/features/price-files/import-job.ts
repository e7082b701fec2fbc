import * as z from 'zod'
import type { Key } from '../../connect/store/store.ts'
import { FIELDS } from './columns.ts'

/** The record format that this version of the app writes. */
export const FORMAT = 3

const count = z.number().int().nonnegative()
const text = z.string().optional()
const problemSchema = z.object({ line: count, reason: z.string(), cells: z.array(z.string()) })
const columnsSchema = z.partialRecord(z.enum(FIELDS), count)

/**
 * The stored record of an import. A job is uploaded, checked, reviewed by its user and sent. Its price file and problem
 * report are in the imports folder, named by the job's id.
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
  /** The platform's id of this import; the same for every run, so that a run resumes the previous one. */
  batchId: z.string(),
  state: z.enum(['checking', 'ready', 'unreadable', 'running', 'completed', 'failed', 'stopped']),
  /** Times are in ms since 1970. */
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  headings: z.array(z.string()),
  columns: columnsSchema,
  /** User-facing reasons why the file cannot be sent with the chosen columns. */
  mappingErrors: z.array(z.string()),
  /** Row counts of the check. */
  rows: count,
  validRows: count,
  invalidRows: count,
  /** The first rows, unparsed. */
  sample: z.array(z.array(z.string())),
  /** The first items, as they will be sent. */
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
  /** The first problem rows. */
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
  /** User-facing reason why the import failed or the file is unreadable. */
  failure: z.string().nullable(),
})
export type Job = z.infer<typeof jobSchema>

/** Parses a stored job of this or an earlier format; returns null if the format is unknown. */
export function parseJob(value: string): Job | null {
  try {
    const parsed = jobSchema.safeParse(migrate(JSON.parse(value)))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** Format 1 had no `format` and lacked some fields; format 2 used other names for some fields. */
function migrate(record: Record<string, unknown>): unknown {
  if (record.format === FORMAT) return record
  const { context, doubts = [], good = 0, bad = 0, first = [], ...rest } = record
  const defaults = {
    headings: [],
    columns: {},
    sample: [],
    problems: [],
    rows: 0,
    progress: null,
    failure: null,
  }
  return {
    ...defaults,
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
/** The lease held by the process that runs the job. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
