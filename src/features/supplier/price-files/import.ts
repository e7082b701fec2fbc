/**
 * The record of an import and its transitions, all pure. A file is uploaded and read; a person chooses how it is read, looks at
 * what was found, and sends it. While it is sent, the store has a note for its catalogue, by which any process finds it:
 *
 * | event | written by | state | note |
 * | --- | --- | --- | --- |
 * | its user sends or resumes it | `Imports`, `started`, `resumed` | running | is written first |
 * | a process begins to send it | `Sender`, `takenOver` | running | stays |
 * | each batch, and every 0.4 s | `Sender`, `progressed` | stays | stays |
 * | sending has ended | `Sender`, `ended` | completed, failed | stays |
 * | its user stops it | `Imports`, `stopped` | stopped | stays |
 * | what was accepted is merged | `settle` | stays | is removed |
 *
 * Of these events, only `stopped` may happen outside the turn of the catalogue, which one process has at a time. A file of the
 * command line has a record and a note only while it is sent. Nobody resumes it, so its state is "stopped" until it is completed.
 */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { appOwner } from '../../../connect/stores.ts'
import type { Catalogue } from '../../catalogues/contract.ts'
import { choiceSchema } from './choice.ts'
import { ImportError } from './errors.ts'
import type { Reading } from './found.ts'
import { texts } from './texts.ts'

const count = z.number().int().nonnegative()

/** How far an import is, so that an interrupted one resumes with the next batch that the platform has not accepted. */
const progressSchema = z.object({
  /** The platform's import that the batches go into; null before it is started. */
  batchId: z.string().nullable().default(null),
  /** Items accepted into that import. */
  importSent: count.default(0),
  /** Items accepted by the platform, also into earlier imports that were completed while this one was interrupted. */
  sent: count.default(0),
  /** Uploads accepted by the platform, in the order of the file. */
  batches: count.default(0),
  /** The items that the platform has rejected in answers to these uploads, and what it says of the first ones. */
  rejected: z.object({ count, message: z.string() }).default({ count: 0, message: '' }),
  phase: z.enum(['starting', 'sending', 'processing']).default('starting'),
  /** The platform's word for the state of its import, shortened; null before it has said one. */
  platformState: z.string().nullable().default(null),
  /** The platform's count of processed items; null if not reported. */
  processed: z.number().nullable().default(null),
  /** User-facing reason why the import is waiting; null if it is not. */
  waiting: z.string().nullable().default(null),
})
export type Progress = z.infer<typeof progressSchema>
export const NOTHING_SENT: Progress = progressSchema.parse({})

export const importSchema = z.object({
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
  /** Counts how often a process has begun to send it. Only the last one to do so writes its progress. */
  run: count,
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  /** A random id for each reading of the file. What was found and the items are stored under it, and *Send* names it. */
  checkId: z.string(),
  /** How the file was read; null if page one must be filled in first, so that nothing can be sent. */
  choice: choiceSchema.nullable(),
  /** The codes of the rows that a person left out. */
  leftOut: z.array(z.string()),
  /** The revision of what the catalogue had received when the file was read, or after this import was merged; empty for nothing. */
  receivedRevision: z.string(),
  rows: count,
  items: count,
  /** Rows that are not sent. */
  rejected: count,
  progress: progressSchema.nullable(),
  /** For its user: why the import failed, or what the platform says was wrong although it has completed it. */
  problem: z.string().nullable(),
})
export type Import = z.infer<typeof importSchema>
export type ImportRef = Pick<Import, 'userId' | 'id'>

/** A reading of a file with its id, what the file was read with, and the folder of its items. */
export interface Read extends Pick<Import, 'checkId' | 'leftOut' | 'receivedRevision'> {
  reading: Reading
  itemsPath: string
}

const readBy = ({ checkId, leftOut, receivedRevision, reading: { found } }: Read) => ({
  state: 'ready' as const,
  checkId,
  leftOut,
  receivedRevision,
  choice: found?.choice ?? null,
  rows: found?.rows ?? 0,
  items: found?.items ?? 0,
  rejected: found?.rejected.reduce((sum, reason) => sum + reason.count, 0) ?? 0,
  endedAt: null,
  progress: null,
  problem: null,
})

const isoNow = () => new Date().toISOString()

/** An import whose file has been read. */
export const newImport = (
  file: Pick<Import, 'id' | 'userId' | 'bxcontext' | 'fileName' | 'bytes'>,
  { id, name, scope }: Catalogue,
  read: Read,
): Import => ({
  ...file,
  ...readBy(read),
  catalogueId: id,
  catalogueName: name ?? id,
  catalogueScope: scope ?? null,
  run: 0,
  createdAt: isoNow(),
})

/** The owner of the files of the command line, in place of a user. */
const COMMAND_LINE = appOwner('command-line')
export const isOfCommandLine = ({ userId }: Pick<Import, 'userId'>): boolean => userId === COMMAND_LINE

/** A file that the command line sends. */
export const commandLineImport = (fileName: string, catalogue: Catalogue, read: Read): Import => ({
  ...newImport(
    { id: randomUUID(), userId: COMMAND_LINE, bxcontext: '', fileName, bytes: 0 },
    catalogue,
    read,
  ),
  state: 'stopped',
  progress: NOTHING_SENT,
})

/** The path of the page of an import. */
export const importPath = ({ bxcontext, id }: Pick<Import, 'bxcontext' | 'id'>) =>
  `/connections/${encodeURIComponent(bxcontext)}/imports/${id}`

/** Parses a stored import; null if it is gone, or another version has written it. */
export const parseImport = (value: string | null): Import | null =>
  importSchema.safeParse(parseJson(value ?? '')).data ?? null

/** Throws `ImportError` (409) unless the import is in one of these states. */
export function requireState({ state }: Import, ...states: Import['state'][]): void {
  if (!states.includes(state))
    throw new ImportError(409, 'conflict', texts.errors.notPossible(texts.states[state]))
}

/** Throws `ImportError` (409) if the import is in none of these states, or was taken over after this run. */
function requireRun(job: Import, run: number, ...states: Import['state'][]): void {
  requireState(job, ...states)
  if (job.run !== run) throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
}

/**
 * The file was read again, and its page is shown anew. `run`: the run of the record when the reading began. Throws `ImportError`
 * (409) if there was a later run, because what it has sent may still have to be merged.
 */
export function readAgain(job: Import, run: number, read: Read): Import {
  requireRun(job, run, 'ready', 'failed', 'stopped')
  return { ...job, ...readBy(read) }
}

const running = (job: Import): Import => ({
  ...job,
  state: 'running',
  progress: { ...(job.progress ?? NOTHING_SENT), phase: 'starting', waiting: null },
  endedAt: null,
  problem: null,
})

/** A person sends what a page has shown. `checkId`: the reading on it. Throws `ImportError` (400, 409) if it cannot be sent. */
export function started(job: Import, checkId: string): Import {
  requireState(job, 'ready')
  if (job.checkId !== checkId) throw new ImportError(409, 'conflict', texts.errors.readOtherwise)
  if (job.items === 0) throw new ImportError(400, 'invalid_input', texts.errors.noItems)
  return running(job)
}

/** An import that has failed or was stopped goes on with the rest. */
export function resumed(job: Import): Import {
  requireState(job, 'failed', 'stopped')
  return running(job)
}

/** Its user stops it. */
export function stopped(job: Import): Import {
  requireState(job, 'running')
  return { ...job, state: 'stopped', endedAt: isoNow() }
}

/** A process begins to send it. */
export function takenOver(job: Import): Import {
  requireState(job, 'running')
  return { ...job, run: job.run + 1 }
}

/** A run has come further. A run that was stopped may still have sent one more batch. */
export function progressed(job: Import, run: number, progress: Progress): Import {
  requireRun(job, run, 'running', 'stopped')
  return { ...job, progress }
}

/** A run has ended. */
export function ended(
  job: Import,
  run: number,
  end: Pick<Import, 'state' | 'progress' | 'problem'> & { state: 'completed' | 'failed' },
): Import {
  requireRun(job, run, 'running')
  return { ...job, ...end, endedAt: isoNow() }
}
