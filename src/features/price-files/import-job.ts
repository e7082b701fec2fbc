import { createHash } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key } from '../../connect/stores.ts'
import { DECIMALS } from '../../tables/prices.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { FIELDS } from './columns.ts'
import type { Comparison } from './comparison.ts'
import { ImportError } from './errors.ts'
import { QUESTIONS } from './questions.ts'
import { texts } from './texts.ts'

/** The format of stored jobs. */
const FORMAT = 1

const count = z.number().int().nonnegative()
const text = z.string().optional()
const problemSchema = z.object({ line: count, reason: z.string(), cells: z.array(z.string()) })
const columnsSchema = z.partialRecord(z.enum(FIELDS), count)
const decimal = z.enum(DECIMALS)

const comparisonSchema = z.object({
  added: count,
  missing: count,
  changed: count,
  changedMuch: count,
  largest: z.array(z.object({ code: z.string(), before: z.number(), now: z.number() })),
}) satisfies z.ZodType<Comparison>

/** How a user chose to read a file (`Choices`). */
export const choicesSchema = z.object({
  columns: columnsSchema.optional(),
  isPriceConfirmed: z.boolean().optional(),
  corrects: z.array(z.string()).optional(),
  headingsLine: count.optional(),
  sheet: z.string().optional(),
  decimal: decimal.optional(),
  gst: z.number().optional(),
})

/**
 * The stored record of an import. A job is uploaded, checked, reviewed by its user and sent. Its files are in the
 * imports folder, named by the job's id.
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
  /** How many items had been sent when this run started. */
  startedFrom: count,
  endedAt: z.number().nullable(),
  /** What the user chose; null if everything is recognised. */
  choices: choicesSchema.nullable(),
  /** Whether the file is an earlier one, or the report of its problems, whose user has corrected rows. */
  isCorrection: z.boolean().default(false),
  /** Identifies the headings as they were recognised, for which choices are remembered. */
  layoutId: z.string().nullable(),
  headings: z.array(z.string()),
  headingsLine: count,
  sheet: z.string().nullable(),
  sheets: z.array(z.string()),
  columns: columnsSchema,
  decimal: decimal.nullable(),
  gst: z.number(),
  questions: z.array(z.enum(QUESTIONS)),
  /** Whether the question about the columns is only if the prices are those of the recognised column. */
  isPriceDoubtful: z.boolean().default(false),
  /** User-facing sentences that ask the questions. */
  mappingErrors: z.array(z.string()),
  remarks: z.array(z.string()),
  /** How the items differ from those of the last file for this catalogue; null if there is none. */
  comparison: comparisonSchema.nullable().default(null),
  /** Row counts of the check. */
  rows: count,
  validRows: count,
  invalidRows: count,
  repeatedRows: count,
  /** The version of the items that the check has written: only those are sent. */
  itemsVersion: text,
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
      batchId: z.string().nullable(),
      importSent: count,
      sent: count,
      batches: count,
      rejected: count.optional(),
      rejectedReasons: z.array(z.string()).optional(),
      processed: z.number().nullable(),
      waiting: z.string().nullable(),
    })
    .nullable(),
  /**
   * Whether a process has begun to read the file, and has not said how that ended: the file may have killed it, and is not read
   * again until its user asks for that.
   */
  isBeingRead: z.boolean().default(false),
  /** User-facing reason why the import failed or the file is unreadable. */
  failure: z.string().nullable(),
})
export type Job = z.infer<typeof jobSchema>

/** A job whose file has been uploaded. */
export function newJob({
  catalogue,
  ...upload
}: Pick<Job, 'id' | 'userId' | 'bxcontext' | 'fileName' | 'bytes'> & { catalogue: Catalogue }): Job {
  return {
    ...upload,
    format: FORMAT,
    catalogueId: catalogue.id,
    catalogueName: catalogue.name ?? catalogue.id,
    batchId: upload.id,
    state: 'checking',
    createdAt: Date.now(),
    startedAt: null,
    startedFrom: 0,
    endedAt: null,
    choices: null,
    isCorrection: false,
    layoutId: null,
    headings: [],
    headingsLine: 0,
    sheet: null,
    sheets: [],
    columns: {},
    decimal: null,
    gst: 0,
    questions: [],
    isPriceDoubtful: false,
    mappingErrors: [],
    remarks: [],
    comparison: null,
    rows: 0,
    validRows: 0,
    invalidRows: 0,
    repeatedRows: 0,
    sample: [],
    preview: [],
    problems: [],
    progress: null,
    isBeingRead: false,
    failure: null,
  }
}

/** Identifies the catalogue that a job writes to. */
export const targetOf = ({ catalogueId, bxcontext }: Job) => `${encodeURIComponent(bxcontext)} ${catalogueId}`

/** Parses a stored job; null if it cannot be read. */
export const parseJob = (value: string): Job | null => jobSchema.safeParse(parseJson(value)).data ?? null

/** Identifies how the file of a job is read, so that a form can say what its user has seen. */
export const readAsOf = ({ choices, sheet, headingsLine, columns, decimal, gst }: Job): string =>
  createHash('sha256')
    .update(JSON.stringify([choices, sheet, headingsLine, columns, decimal, gst]))
    .digest('hex')
    .slice(0, 16)

/** What changes when a job starts to be sent. Throws `ImportError` if it cannot be sent, and says why. */
export function toRunning(
  job: Job,
  { strict, readAs }: { strict: boolean; readAs: string | undefined },
): Partial<Job> {
  const { state, mappingErrors, validRows, invalidRows, progress } = job
  if (readAs !== undefined && readAs !== readAsOf(job))
    throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
  if (state === 'checking') throw new ImportError(409, 'conflict', texts.errors.notChecked)
  if (mappingErrors.length > 0) throw new ImportError(400, 'invalid_input', mappingErrors.join(' '))
  if (validRows === 0) throw new ImportError(400, 'invalid_input', texts.errors.noRows)
  if (strict && invalidRows > 0) throw new ImportError(400, 'invalid_input', texts.errors.strict(invalidRows))
  return {
    state: 'running',
    startedAt: Date.now(),
    startedFrom: progress?.sent ?? 0,
    endedAt: null,
    failure: null,
  }
}

export const JOB = 'import'
/** The jobs that are being checked or sent, so that another process can take them over. */
export const activeKey = (id: string): Key => ({ kind: ACTIVE_JOB, owner: ALL_USERS, id })
export const ACTIVE_JOB = 'active-import'
export const ALL_USERS = appOwner('imports')
export const jobKey = (userId: string, id: string): Key => ({ kind: JOB, owner: userId, id })
/** The lease of the process that runs the job. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
