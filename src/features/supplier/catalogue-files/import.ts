/**
 * The record of an import, and pure functions for its transitions. A catalogue has one record, for its last file: so one import is
 * under way at a time, and *Send* always means the file that was checked last.
 *
 * | event | transition | state |
 * | --- | --- | --- |
 * | a valid file was read | `checked` | ready |
 * | a person or a command starts the import | `started` | running |
 * | a process begins to send all items | `takenOver` | unchanged |
 * | a batch was accepted, and every half second | `progressed` | unchanged |
 * | its user stops it | `stopRequested` | stopping |
 * | the received items are stored | `ended` | completed, failed, stopped |
 * | its user sends it again | `resumed` | running |
 *
 * Only the process that holds the lease of the catalogue writes `takenOver`, `progressed` and `ended`.
 */
import * as z from 'zod'
import { conflict } from './errors.ts'
import { texts } from './import-texts.ts'

const count = z.int().nonnegative()

/** The progress of a run. `sent`: how many items the platform has accepted. `note`: the current activity, for the user. */
const progressSchema = z.object({ sent: count, note: z.string() })
export type Progress = z.infer<typeof progressSchema>
export const NOTHING_SENT: Progress = { sent: 0, note: texts.sending.starting }

export const importSchema = z.object({
  /** The id of its stored items. */
  id: z.string(),
  catalogueId: z.string(),
  catalogueName: z.string(),
  fileName: z.string(),
  items: count,
  /** The connection that sends the file; null for a command, and after its user was deleted. */
  by: z.object({ userId: z.string(), bxcontext: z.string() }).nullable(),
  state: z.enum(['ready', 'running', 'stopping', 'completed', 'failed', 'stopped']),
  /** Counts how often a process has begun to send the file. Only the latest run may update the record. */
  run: count,
  progress: progressSchema,
  /** The largest number of items that the platform has accepted in a single run. */
  accepted: count,
  /** For the user: why the import failed, or the problems that the platform reported although it completed the import. */
  problem: z.string().nullable(),
  /** For the user: further messages of the platform about the completed import. */
  said: z.string().nullable(),
  endedAt: z.iso.datetime().nullable(),
})
export type Import = z.infer<typeof importSchema>

/** Whether this connection is sending the file, or has sent it. */
export const isOf = ({ userId, bxcontext }: { userId: string; bxcontext: string }, { by }: Import): boolean =>
  by?.userId === userId && by.bxcontext === bxcontext

/** Whether the file is being sent. Until that ends, the catalogue accepts no other file. */
export const isUnderWay = ({ state }: Pick<Import, 'state'>): boolean =>
  state === 'running' || state === 'stopping'

/** Throws `ImportError` (409) unless the import is in one of these states. */
function requireState({ state }: Import, ...states: Import['state'][]): void {
  if (!states.includes(state)) throw conflict(texts.errors.notPossible(texts.states[state]))
}

/** Throws `ImportError` (409) unless this run is the latest and still under way. */
function requireRun(job: Import, run: number): void {
  requireState(job, 'running', 'stopping')
  if (job.run !== run) throw conflict(texts.errors.otherRunning)
}

const FRESH = { progress: NOTHING_SENT, problem: null, said: null, endedAt: null }

/** A file that was read, with its sender and its catalogue. */
export type NewFile = Pick<Import, 'catalogueId' | 'catalogueName' | 'fileName' | 'by'>

/** A valid file was read, and replaces the previous file. Throws `ImportError` (409) while that is under way. */
export function checked(before: Import | null, file: NewFile & Pick<Import, 'id' | 'items'>): Import {
  if (before && isUnderWay(before)) throw conflict(texts.errors.otherRunning)
  return { ...file, ...FRESH, state: 'ready', run: 0, accepted: 0 }
}

/** The import starts. Repeating this write is harmless, as for the other transitions. */
export function started(job: Import): Import {
  requireState(job, 'ready', 'running')
  return { ...job, state: 'running' }
}

/** The user sends the whole file again. */
export function resumed(job: Import): Import {
  if (job.state === 'running') return job
  requireState(job, 'stopped', 'failed')
  return { ...job, ...FRESH, state: 'running' }
}

/** The user stops the import. A batch that is on its way still arrives. */
export function stopRequested(job: Import): Import {
  requireState(job, 'running', 'stopping')
  return { ...job, state: 'stopping' }
}

/** A process begins to send the file, from its first item. */
export function takenOver(job: Import): Import {
  requireState(job, 'running')
  return { ...job, run: job.run + 1, progress: NOTHING_SENT }
}

/** A run has made progress. */
export function progressed(job: Import, run: number, progress: Progress): Import {
  requireRun(job, run)
  return { ...job, progress, accepted: Math.max(job.accepted, progress.sent) }
}

/** The result of an import. */
export type End = Outcome & { state: 'completed' | 'failed' | 'stopped' }
/** The platform's messages about a completed import. */
export type Outcome = Pick<Import, 'problem' | 'said'>

/** A run has ended. Repeating the same end has no effect. */
export function ended(job: Import, run: number, end: End, now: Date): Import {
  if (job.run === run && job.state === end.state) return job
  requireRun(job, run)
  return { ...job, ...end, endedAt: now.toISOString() }
}

/** The user was deleted. Stops an import under way, and removes the user and the file name; null if the record must be deleted. */
export const forgotten = (job: Import): Import | null =>
  isUnderWay(job) ? { ...job, by: null, fileName: '', state: 'stopping' } : null
