/** The record of an import and its transitions, all pure. An import is uploaded, checked, confirmed by a person, and sent. */
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key } from '../../connect/stores.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import { audienceProblem, isComplete } from './confirmation.ts'
import { ImportError, importNotFound, unreadableImport } from './errors.ts'
import { draftSchema, type Layout } from './layout.ts'
import { texts } from './texts.ts'

const count = z.number().int().nonnegative()

/** What a check has found. */
const checkedSchema = z.object({
  /** Random for each check: the store has its items and its reading by this id. */
  checkId: z.string(),
  /** What a person has said so far of how the file is to be read, beside what is suggested. */
  draft: draftSchema,
  /** Who has confirmed how the file is read, and when; null: nobody, so nothing can be sent. */
  confirmed: z.object({ by: z.string(), at: z.iso.datetime() }).nullable(),
  rows: count,
  validRows: count,
  invalidRows: count,
})
export type Checked = z.infer<typeof checkedSchema>

export const importSchema = z.object({
  /** Also the platform's id of this import, the same for every run, so that a run resumes the previous one. */
  id: z.string(),
  userId: z.string(),
  bxcontext: z.string(),
  catalogueId: z.string(),
  catalogueName: z.string(),
  /** Who sees the catalogue: `Public` or `Managed`. */
  catalogueScope: z.string().nullable(),
  fileName: z.string(),
  /** The size of the file. */
  bytes: count,
  state: z.enum(['ready', 'running', 'completed', 'failed', 'stopped']),
  /** Grows with each run: only the process that began the last one writes its progress. */
  run: count,
  /** Times are in ms since 1970. */
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  ...checkedSchema.shape,
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
  /** User-facing reason why the import failed. */
  failure: z.string().nullable(),
})
export type Import = z.infer<typeof importSchema>

/** An import whose file has been read. */
export function newImport({
  catalogue,
  ...rest
}: Pick<Import, 'id' | 'userId' | 'bxcontext' | 'fileName' | 'bytes'> &
  Checked & { catalogue: Catalogue }): Import {
  return {
    ...rest,
    catalogueId: catalogue.id,
    catalogueName: catalogue.name ?? catalogue.id,
    catalogueScope: catalogue.scope ?? null,
    state: 'ready',
    run: 0,
    createdAt: Date.now(),
    startedAt: null,
    endedAt: null,
    progress: null,
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

const invalidState = ({ state }: Import) =>
  new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[state]))

/** Throws `ImportError` (409) unless the import is in one of these states. */
function requireState(job: Import, ...states: Import['state'][]): void {
  if (!states.includes(job.state)) throw invalidState(job)
}

/** Only what its user has seen is confirmed or sent. `seen`: the `checkId` of the page. */
function requireSeen(job: Import, seen: string | undefined): void {
  if (seen !== undefined && seen !== job.checkId)
    throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
}

/** The file was read again, as a person says. */
export function readAgain(job: Import, checked: Checked): Import {
  requireState(job, 'ready')
  return { ...job, ...checked }
}

/** An answer that says nothing about the columns. The file is not read again before all statements are made. */
export function answered(job: Import, draft: Import['draft']): Import {
  requireState(job, 'ready')
  return { ...job, draft, confirmed: null }
}

/** A person has confirmed how the file is read. Throws `ImportError` if something is missing. */
export function confirmedImport(
  job: Import,
  { confirmedBy, confirmedAt }: Pick<Layout, 'confirmedBy' | 'confirmedAt'>,
  seen: string | undefined,
): Import {
  requireState(job, 'ready')
  requireSeen(job, seen)
  const isKnown = isComplete(job.draft) && job.validRows > 0
  if (!isKnown) throw new ImportError(400, 'invalid_input', texts.errors.notConfirmed)
  return { ...job, confirmed: { by: confirmedBy, at: confirmedAt } }
}

/** The import is sent, or the rest of it. Throws `ImportError` if it cannot be, and says why. */
export function running(job: Import, seen: string | undefined): Import {
  requireState(job, 'ready', 'failed', 'stopped')
  requireSeen(job, seen)
  if (job.confirmed === null) throw new ImportError(400, 'invalid_input', texts.errors.notConfirmed)
  const problem = audienceProblem(job.draft, job.catalogueScope)
  if (problem) throw new ImportError(400, 'invalid_input', problem)
  if (job.validRows === 0) throw new ImportError(400, 'invalid_input', texts.errors.noRows)
  return {
    ...job,
    state: 'running',
    run: job.run + 1,
    startedAt: Date.now(),
    endedAt: null,
    failure: null,
  }
}

/** Its user stops it. */
export function stopped(job: Import): Import {
  requireState(job, 'running')
  return { ...job, state: 'stopped', endedAt: Date.now() }
}

/** Another process takes over what should run. */
export const takenOver = (job: Import): Import => ({ ...job, run: job.run + 1 })

export const IMPORT = 'import'
export const importKey = (userId: string, id: string): Key => ({ kind: IMPORT, owner: userId, id })
/** The lease of the process that works on the import. */
export const leaseKey = (userId: string, id: string): Key => ({ kind: 'import-lease', owner: userId, id })
/** The imports that are being sent, by id with their users, so that another process can take them over. */
export const ACTIVE = { kind: 'active-import', owner: appOwner('imports') } as const
export const activeKey = (id: string): Key => ({ ...ACTIVE, id })
/** How many bytes the files of all imports have that the store keeps. */
export const SPACE = { kind: 'import-space', owner: appOwner('imports') } as const
