/**
 * The record of an import and its transitions, all pure. An import is uploaded, checked, confirmed by a person, and sent. Three
 * write the record of one that is sent; beside it is a note (`Active`) that it should be running, which any process looks for:
 *
 * | event | written by | state | run | note |
 * | --- | --- | --- | --- | --- |
 * | its user starts it | `Imports.start`, `running` | running | one more | is written first, with that run |
 * | a process begins to send it | `Sender.begin`, `takenOver` | running | one more | stays |
 * | each batch, and every 0.4 s | `saveProgress` of the sender, `progressed` | running | must be its own | stays |
 * | sending has ended | `saveEnd` of the sender, `ended` | completed, failed | must be its own | is removed by whoever finds it |
 * | its user stops it | `Imports.stop`, `stopped` | stopped | stays | is removed by whoever finds it |
 *
 * A note whose run the record has not reached is of a start that is just being recorded.
 */
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import type { UserNotice } from '../../web/kit.ts'
import type { Catalogue } from '../catalogues/contract.ts'
import type { Check } from './check-rows.ts'
import { ImportError, importNotFound } from './errors.ts'
import { draftSchema } from './layout.ts'
import { audienceProblem, isComplete } from './questions.ts'
import { texts } from './texts.ts'

const count = z.number().int().nonnegative()

/** How far an import is, so that an interrupted one resumes with the next batch that the platform has not accepted. */
export const progressSchema = z.object({
  /** The platform's import that the batches go into; null before it is started. */
  batchId: z.string().nullable(),
  /** Items accepted into that import. */
  importSent: count,
  /** Items accepted by the platform, also into earlier imports that were completed while this one was interrupted. */
  sent: count,
  /** Uploads accepted by the platform, in the order of the file. */
  batches: count,
  /** The items that the platform has rejected in answers to these uploads, and what it says of the first ones. */
  rejected: z.object({ count, message: z.string() }),
  phase: z.enum(['starting', 'sending', 'processing']),
  /** The platform's count of processed items; null if not reported. */
  processed: z.number().nullable(),
  /** User-facing reason why the import is waiting; null if it is not. */
  waiting: z.string().nullable(),
})
export type Progress = z.infer<typeof progressSchema>

export const NOTHING_SENT: Progress = {
  batchId: null,
  importSent: 0,
  sent: 0,
  batches: 0,
  rejected: { count: 0, message: '' },
  phase: 'starting',
  processed: null,
  waiting: null,
}

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
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  /** Random for each check: the store has its items and its reading by this id. */
  checkId: z.string(),
  /** What a person has said so far of how the file is to be read, beside what is suggested. If it is complete, the check is of it. */
  draft: draftSchema,
  /** When a person has confirmed how the file is read; null: nobody has, so nothing can be sent. */
  confirmed: z.object({ at: z.iso.datetime() }).nullable(),
  rows: count,
  validRows: count,
  invalidRows: count,
  progress: progressSchema.nullable(),
  /** User-facing reason why the import failed. */
  failure: z.string().nullable(),
})
export type Import = z.infer<typeof importSchema>

/** A check with its id, and the folder of its items. */
export interface Read {
  checkId: string
  check: Check
  itemsPath: string
}

const checkedBy = ({ checkId, check: { rows, validRows, invalidRows, draft, layout } }: Read) => ({
  checkId,
  draft,
  confirmed: layout && { at: layout.confirmedAt },
  rows,
  validRows,
  invalidRows,
})

const isoNow = () => new Date().toISOString()

const placeOf = ({ id, name, scope }: Catalogue) => ({
  catalogueId: id,
  catalogueName: name ?? id,
  catalogueScope: scope ?? null,
})

/** An import whose file has been read. */
export const newImport = (
  file: Pick<Import, 'id' | 'userId' | 'bxcontext' | 'fileName' | 'bytes'>,
  catalogue: Catalogue,
  read: Read,
): Import => ({
  ...file,
  ...checkedBy(read),
  ...placeOf(catalogue),
  state: 'ready',
  run: 0,
  createdAt: isoNow(),
  startedAt: null,
  endedAt: null,
  progress: null,
  failure: null,
})

/** The path of its page. */
export const importPath = ({ bxcontext, id }: Pick<Import, 'bxcontext' | 'id'>) =>
  `/connections/${encodeURIComponent(bxcontext)}/imports/${id}`

/** Parses a stored import; null if it is gone, or another version has written it. */
export const parseImport = (value: string | null): Import | null =>
  importSchema.safeParse(parseJson(value ?? '')).data ?? null

/** Parses a stored import. Throws `ImportError` (404) if there is none. */
export function requireImport(value: string | null): Import {
  const found = parseImport(value)
  if (!found) throw importNotFound()
  return found
}

/** Throws `ImportError` (409) unless the import is in one of these states. */
function requireState({ state }: Import, ...states: Import['state'][]): void {
  if (!states.includes(state))
    throw new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[state]))
}

/** Only what its user has seen is confirmed or sent. `seen`: the `checkId` of the page. */
function requireSeen(job: Import, seen: string | undefined): void {
  if (seen !== undefined && seen !== job.checkId)
    throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
}

/** The file was read again, as a person says. */
export function readAgain(job: Import, read: Read): Import {
  requireState(job, 'ready')
  return { ...job, ...checkedBy(read) }
}

/**
 * An answer that does not change which rows the table has. The file is not read again before all questions are answered, so a
 * complete draft is always that of the check. `checkId`: the check that the answer is about.
 */
export function answered(job: Import, checkId: string, draft: Import['draft']): Import {
  requireState(job, 'ready')
  requireSeen(job, checkId)
  return { ...job, draft, confirmed: null }
}

/** An import that has not been sent goes into another catalogue, for which its layout is to be confirmed. */
export function moved(job: Import, catalogue: Catalogue): Import {
  requireState(job, 'ready')
  return { ...job, ...placeOf(catalogue), confirmed: null }
}

/** A person has confirmed how the file was read in a check, with its draft. Throws `ImportError` if something is missing. */
export function confirmedImport(
  job: Import,
  { checkId, draft }: Pick<Import, 'checkId' | 'draft'>,
  at: string,
): Import {
  requireState(job, 'ready')
  requireSeen(job, checkId)
  const isKnown = isComplete(job.draft) && isComplete(draft) && job.validRows > 0
  if (!isKnown) throw new ImportError(400, 'invalid_input', texts.errors.notConfirmed)
  return { ...job, draft, confirmed: { at } }
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
    progress: { ...(job.progress ?? NOTHING_SENT), phase: 'starting', waiting: texts.sending.waitingForTurn },
    startedAt: isoNow(),
    endedAt: null,
    failure: null,
  }
}

/** Its user stops it. */
export function stopped(job: Import): Import {
  requireState(job, 'running')
  return { ...job, state: 'stopped', endedAt: isoNow() }
}

/** A process begins to send what should be running: it waits no more. */
export function takenOver(job: Import): Import {
  if (job.state !== 'running') return job
  return { ...job, run: job.run + 1, progress: job.progress && { ...job.progress, waiting: null } }
}

/** Only the work that began the last run goes on with it. Throws `ImportError` (409) if that run is over. */
function requireRun(job: Import, run: number): void {
  requireState(job, 'running')
  if (job.run !== run) throw new ImportError(409, 'conflict', texts.errors.notPossible(texts.states.running))
}

/** A run has come further. */
export function progressed(job: Import, run: number, progress: Import['progress']): Import {
  requireRun(job, run)
  return { ...job, progress }
}

/** A run has ended. `failure`: why it failed; null: it did not. */
export function ended(
  job: Import,
  run: number,
  { progress, failure }: Pick<Import, 'progress' | 'failure'>,
): Import {
  requireRun(job, run)
  const state = failure === null ? 'completed' : 'failed'
  return { ...job, state, progress, failure, endedAt: isoNow() }
}

/** What the user is told of the end on the next page. */
export function endNotice(job: Import): UserNotice {
  const { id, fileName, catalogueName, state, progress, failure } = job
  const link = { href: importPath(job), label: texts.notice.open }
  if (state !== 'completed')
    return { id, text: texts.notice.stopped(fileName, failure ?? ''), tone: 'wait', link }
  return { id, text: texts.notice.completed(fileName, progress?.sent ?? 0, catalogueName), link }
}
