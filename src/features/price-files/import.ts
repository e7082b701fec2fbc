/** The record of an import and its transitions, all pure. An import is uploaded, checked, confirmed by a person, and sent. */
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key } from '../../connect/stores.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { audienceProblem, isComplete } from './confirmation.ts'
import { ImportError, importNotFound, unreadableImport } from './errors.ts'
import { draftSchema, type Layout } from './layout.ts'
import { texts } from './texts.ts'

/** The format of stored imports. */
const FORMAT = 2

const count = z.number().int().nonnegative()

export const importSchema = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  userId: z.string(),
  bxcontext: z.string(),
  catalogueId: z.string(),
  catalogueName: z.string(),
  /** Who sees the catalogue: `Public` or `Managed`. */
  catalogueScope: z.string().nullable(),
  fileName: z.string(),
  /** The platform's id of this import; the same for every run, so that a run resumes the previous one. */
  batchId: z.string(),
  state: z.enum(['checking', 'ready', 'unreadable', 'running', 'completed', 'failed', 'stopped']),
  /** Grows with each work that is begun: only the process that began the last one writes its progress. */
  run: count,
  /** Times are in ms since 1970. */
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  /** How many items had been sent when this run started. */
  startedFrom: count,
  endedAt: z.number().nullable(),
  /** In how many parts the store has the file (0: it was not received to its end), the items and the report. */
  parts: z.object({ file: count, items: count, report: count }),
  /** The run whose check has written the items and the report. */
  checkedRun: count,
  /** How many bytes they take in the store. */
  storedBytes: count,
  /** What a person has said so far of how the file is to be read; null: nothing, so confirmed layouts may fit. */
  draft: draftSchema.nullable(),
  /** Who has confirmed how the file is read, and when; null: nobody, so nothing can be sent. */
  confirmed: z.object({ by: z.string(), at: z.iso.datetime() }).nullable(),
  /** Row counts of the check. */
  rows: count,
  validRows: count,
  invalidRows: count,
  progress: z
    .object({
      phase: z.enum(['starting', 'sending', 'processing']),
      batchId: z.string().nullable(),
      importSent: count,
      sent: count,
      batches: count,
      rejected: z.object({ count, message: z.string() }),
      processed: z.number().nullable(),
      waiting: z.string().nullable(),
    })
    .nullable(),
  /**
   * Whether a process has begun to read the file, and has not said how that ended: the file may have killed it, and is not
   * read again until its user asks for that.
   */
  isBeingRead: z.boolean(),
  /** User-facing reason why the import failed or the file is unreadable. */
  failure: z.string().nullable(),
})
export type Import = z.infer<typeof importSchema>

/** An import whose file is being received. */
export function newImport({
  catalogue,
  ...upload
}: Pick<Import, 'id' | 'userId' | 'bxcontext' | 'fileName'> & { catalogue: Catalogue }): Import {
  return {
    ...upload,
    format: FORMAT,
    catalogueId: catalogue.id,
    catalogueName: catalogue.name ?? catalogue.id,
    catalogueScope: catalogue.scope ?? null,
    batchId: upload.id,
    state: 'checking',
    run: 1,
    createdAt: Date.now(),
    startedAt: null,
    startedFrom: 0,
    endedAt: null,
    parts: { file: 0, items: 0, report: 0 },
    checkedRun: 0,
    storedBytes: 0,
    draft: null,
    confirmed: null,
    rows: 0,
    validRows: 0,
    invalidRows: 0,
    progress: null,
    isBeingRead: false,
    failure: null,
  }
}

/** Parses a stored import; null if it cannot be read. */
export const parseImport = (value: string): Import | null =>
  importSchema.safeParse(parseJson(value)).data ?? null

/** Throws if the record cannot be read, or is gone. */
export function requireImport(value: string | null): Import {
  if (value === null) throw importNotFound()
  const found = parseImport(value)
  if (!found) throw unreadableImport()
  return found
}

export const shouldRun = ({ state }: Pick<Import, 'state'>) => state === 'checking' || state === 'running'

const invalidState = ({ state }: Import) =>
  new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[state]))

/** Throws `ImportError` (409) unless the import is in one of these states. `interrupted`: no process works on it. */
function requireState(job: Import, states: readonly Import['state'][], interrupted = false): void {
  if (!states.includes(job.state) && !(interrupted && shouldRun(job))) throw invalidState(job)
}

/** Only what its user has seen is confirmed or sent. `seen`: the `checkedRun` of the page. */
function requireSeen(job: Import, seen: number | undefined): void {
  if (seen !== undefined && seen !== job.checkedRun)
    throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
}

const RECHECK = {
  state: 'checking',
  isBeingRead: false,
  confirmed: null,
  progress: null,
  failure: null,
} as const

/** The file is read again, as the draft says; null: as it was received. A person asks for that. */
export function checkedAgain(job: Import, draft: Import['draft']): Import {
  requireState(job, ['ready', 'unreadable'], true)
  return { ...job, ...RECHECK, draft, run: job.run + 1 }
}

/** An answer that says nothing about the columns. The file is not read again before all statements are made. */
export function answered(job: Import, draft: Import['draft']): Import {
  requireState(job, ['ready'])
  return { ...job, draft, confirmed: null }
}

/** A person has confirmed how the file is read. Throws `ImportError` if something is missing. */
export function confirmedImport(
  job: Import,
  { confirmedBy, confirmedAt }: Pick<Layout, 'confirmedBy' | 'confirmedAt'>,
  seen: number | undefined,
): Import {
  requireState(job, ['ready'])
  requireSeen(job, seen)
  const isKnown = job.draft !== null && isComplete(job.draft) && job.validRows > 0
  if (!isKnown) throw new ImportError(400, 'invalid_input', texts.errors.notConfirmed)
  return { ...job, confirmed: { by: confirmedBy, at: confirmedAt } }
}

/** The import is sent, or the rest of it. Throws `ImportError` if it cannot be, and says why. */
export function running(
  job: Import,
  { strict, seen }: { strict: boolean; seen: number | undefined },
): Import {
  requireState(job, ['ready', 'failed', 'stopped'], job.state === 'running')
  requireSeen(job, seen)
  if (job.draft === null || job.confirmed === null)
    throw new ImportError(400, 'invalid_input', texts.errors.notConfirmed)
  const problem = audienceProblem(job.draft, job.catalogueScope)
  if (problem) throw new ImportError(400, 'invalid_input', problem)
  const { validRows, invalidRows } = job
  if (validRows === 0) throw new ImportError(400, 'invalid_input', texts.errors.noRows)
  if (strict && invalidRows > 0) throw new ImportError(400, 'invalid_input', texts.errors.strict(invalidRows))
  const startedFrom = job.progress?.sent ?? 0
  return {
    ...job,
    state: 'running',
    run: job.run + 1,
    startedAt: Date.now(),
    startedFrom,
    endedAt: null,
    failure: null,
  }
}

/** Its user stops it. */
export function stopped(job: Import): Import {
  requireState(job, ['running'])
  return { ...job, state: 'stopped', endedAt: Date.now() }
}

/** Another process takes over what should run. */
export const takenOver = (job: Import): Import => ({ ...job, run: job.run + 1 })

export const IMPORT = 'import'
export const importKey = (userId: string, id: string): Key => ({ kind: IMPORT, owner: userId, id })
/** The lease of the process that works on the import. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
/** The imports that are being checked or sent, by id with their users, so that another process can take them over. */
export const ACTIVE = { kind: 'active-import', owner: appOwner('imports') } as const
export const activeKey = (id: string): Key => ({ ...ACTIVE, id })
/** How many bytes each import takes in the store. */
export const SPACE = { kind: 'import-space', owner: appOwner('imports') } as const
