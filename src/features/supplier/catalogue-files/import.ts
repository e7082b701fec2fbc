/**
 * The record of an import and its transitions, all pure. A catalogue has one record, that of its last file: so one import at a time is
 * under way, and *Send* can only mean the file that was checked last.
 *
 * | event | transition | state |
 * | --- | --- | --- |
 * | a right file was read | `checked` | ready |
 * | a person or a command sends what differs | `started` | running |
 * | a process begins to send all items | `takenOver` | stays |
 * | a batch was accepted, and every half second | `progressed` | stays |
 * | its user stops it | `stopRequested` | stopping |
 * | what the catalogue received is stored | `ended` | completed, failed, stopped |
 * | its user sends it again | `resumed` | running |
 *
 * Only the process that has the lease of the catalogue writes `takenOver`, `progressed` and `ended`.
 */
import * as z from 'zod'
import { conflict } from './errors.ts'
import { texts } from './import-texts.ts'

const count = z.int().nonnegative()

/** How far a run is. `sent`: how many items the platform has accepted. `note`: what happens now, for its user. */
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
  /** The connection that sends it; null for a command, and when its user was deleted. */
  by: z.object({ userId: z.string(), bxcontext: z.string() }).nullable(),
  state: z.enum(['ready', 'running', 'stopping', 'completed', 'failed', 'stopped']),
  /** Counts how often a process has begun to send it. Only the last one writes what becomes of it. */
  run: count,
  progress: progressSchema,
  /** The most items that the platform has accepted in one of the runs. */
  accepted: count,
  /** For its user: why it failed, or what the platform says was wrong although it has completed it. */
  problem: z.string().nullable(),
  /** What else the platform says about the completed import, for its user. */
  said: z.string().nullable(),
  endedAt: z.iso.datetime().nullable(),
})
export type Import = z.infer<typeof importSchema>

/** Whether a connection sends or has sent it. */
export const isOf = ({ userId, bxcontext }: { userId: string; bxcontext: string }, { by }: Import): boolean =>
  by?.userId === userId && by.bxcontext === bxcontext

/** Whether it is being sent, so that no other file of its catalogue can be. */
export const isUnderWay = ({ state }: Pick<Import, 'state'>): boolean =>
  state === 'running' || state === 'stopping'

/** Throws `ImportError` (409) unless it is in one of these states. */
function requireState({ state }: Import, ...states: Import['state'][]): void {
  if (!states.includes(state)) throw conflict(texts.errors.notPossible(texts.states[state]))
}

/** Throws `ImportError` (409) unless this run is under way and the last one. */
function requireRun(job: Import, run: number): void {
  requireState(job, 'running', 'stopping')
  if (job.run !== run) throw conflict(texts.errors.otherRunning)
}

const FRESH = { progress: NOTHING_SENT, problem: null, said: null, endedAt: null }

/** A file that was read, and who sends it where. */
export type NewFile = Pick<Import, 'catalogueId' | 'catalogueName' | 'fileName' | 'by'>

/** A right file was read: it takes the place of the one before. Throws `ImportError` (409) while that is under way. */
export function checked(before: Import | null, file: NewFile & Pick<Import, 'id' | 'items'>): Import {
  if (before && isUnderWay(before)) throw conflict(texts.errors.otherRunning)
  return { ...file, ...FRESH, state: 'ready', run: 0, accepted: 0 }
}

/** It is sent. This write may be repeated, like the others. */
export function started(job: Import): Import {
  requireState(job, 'ready', 'running')
  return { ...job, state: 'running' }
}

/** Its user sends it again, whole. */
export function resumed(job: Import): Import {
  if (job.state === 'running') return job
  requireState(job, 'stopped', 'failed')
  return { ...job, ...FRESH, state: 'running' }
}

/** Its user stops it. The batch that is on its way still arrives. */
export function stopRequested(job: Import): Import {
  requireState(job, 'running', 'stopping')
  return { ...job, state: 'stopping' }
}

/** A process begins to send it, from its first item. */
export function takenOver(job: Import): Import {
  requireState(job, 'running')
  return { ...job, run: job.run + 1, progress: NOTHING_SENT }
}

/** A run has come further. */
export function progressed(job: Import, run: number, progress: Progress): Import {
  requireRun(job, run)
  return { ...job, progress, accepted: Math.max(job.accepted, progress.sent) }
}

/** How an import ends. */
export type End = Outcome & { state: 'completed' | 'failed' | 'stopped' }
/** What the platform says about an import that it has completed. */
export type Outcome = Pick<Import, 'problem' | 'said'>

/** A run has ended. The same end again changes nothing. */
export function ended(job: Import, run: number, end: End, now: Date): Import {
  if (job.run === run && job.state === end.state) return job
  requireRun(job, run)
  return { ...job, ...end, endedAt: now.toISOString() }
}

/** Its user was deleted: if it is under way, it stops, and nothing in it leads to the user; null if it is to be deleted. */
export const forgotten = (job: Import): Import | null =>
  isUnderWay(job) ? { ...job, by: null, fileName: '', state: 'stopping' } : null
