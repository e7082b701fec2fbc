/**
 * The record of an import, and pure functions for its transitions. A catalogue has one record, for its last file: so one import is
 * under way at a time, and *Send* always means the file that was checked last.
 *
 * | event | transition | state |
 * | --- | --- | --- |
 * | a valid file was read | `checked` | ready |
 * | a person or a command starts the import | `started` | running |
 * | a process begins to send all items | `takenOver` | running |
 * | before each request to the platform | `progressed` | unchanged |
 * | a run has ended | `ended` | completed, failed |
 * | its user stops it | `stopped` | stopped |
 * | its user sends it again | `resumed` | running |
 *
 * Only the process that holds the lease of the catalogue writes `takenOver`, `progressed` and `ended`.
 */
import * as z from 'zod'
import { conflict } from './errors.ts'
import { texts } from './import-texts.ts'

const count = z.int().nonnegative()
/** The id of stored items, and their number. */
const storedSchema = z.object({ id: z.string(), items: count })
export type Stored = z.infer<typeof storedSchema>

export const importSchema = storedSchema.extend({
  catalogueId: z.string(),
  catalogueName: z.string(),
  fileName: z.string(),
  /** The connection that sends the file; null for a command, and after its user was deleted. */
  by: z.object({ userId: z.string(), bxcontext: z.string() }).nullable(),
  state: z.enum(['ready', 'running', 'completed', 'failed', 'stopped']),
  /** Counts how often a process has begun to send the file. Only the latest run may update the record. */
  run: count,
  /** How many items the platform has accepted in this run. */
  sent: count,
  /** The current activity, for the user. */
  note: z.string(),
  /** For the user: why the import failed, or the platform's message about the completed import. */
  message: z.string().nullable(),
  /** The items of the last completed import into this catalogue, with which the next file is compared. */
  received: storedSchema.nullable(),
})
export type Import = z.infer<typeof importSchema>
export type Progress = Pick<Import, 'sent' | 'note'>
export const NOTHING_SENT: Progress = { sent: 0, note: texts.sending.starting }

/** Whether this connection is sending the file, or has sent it. */
export const isOf = ({ userId, bxcontext }: { userId: string; bxcontext: string }, { by }: Import): boolean =>
  by?.userId === userId && by.bxcontext === bxcontext

/** Throws `ImportError` (409) unless the import is in one of these states. */
function requireState({ state }: Import, ...states: Import['state'][]): void {
  if (!states.includes(state)) throw conflict(texts.errors.notPossible(texts.states[state]))
}

/** Throws `ImportError` (409) unless this run is the latest. It may still come further, or end, after its user has stopped it. */
function requireRun(job: Import, run: number): void {
  requireState(job, 'running', 'stopped')
  if (job.run !== run) throw conflict(texts.errors.otherRunning)
}

const FRESH = { ...NOTHING_SENT, message: null }

/** A file that was read, with its sender and its catalogue. */
export type NewFile = Pick<Import, 'catalogueId' | 'catalogueName' | 'fileName' | 'by'>

/** A valid file was read, and replaces the previous file. Throws `ImportError` (409) while that is being sent. */
export function checked(before: Import | null, file: NewFile & Stored): Import {
  if (before?.state === 'running') throw conflict(texts.errors.otherRunning)
  return { ...file, ...FRESH, state: 'ready', run: 0, received: before?.received ?? null }
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
export function stopped(job: Import): Import {
  requireState(job, 'running', 'stopped')
  return { ...job, state: 'stopped' }
}

/** A process begins to send the file, from its first item. */
export function takenOver(job: Import): Import {
  requireState(job, 'running')
  return { ...job, ...NOTHING_SENT, run: job.run + 1 }
}

/** A run has made progress. */
export function progressed(job: Import, run: number, progress: Progress): Import {
  requireRun(job, run)
  return { ...job, ...progress }
}

/** The result of a run. */
export type End = Pick<Import, 'message'> & { state: 'completed' | 'failed' }

/** A run has ended. If it was completed, the catalogue has received its items. Repeating the same end has no effect. */
export function ended(job: Import, run: number, end: End): Import {
  if (job.run === run && job.state === end.state) return job
  requireRun(job, run)
  const received = end.state === 'completed' ? { id: job.id, items: job.items } : job.received
  return { ...job, ...end, received }
}

/**
 * The user was deleted. Stops the import, ends its run, because its items are gone, and removes the user and the file; null if the
 * catalogue has received no items.
 */
export const forgotten = (job: Import): Import | null =>
  job.received && { ...job, by: null, fileName: '', items: 0, state: 'stopped', run: job.run + 1 }
