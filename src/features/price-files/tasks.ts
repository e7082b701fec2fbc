import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ConnectionRef, retry, type TokenSource } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import { type Batch, readBatches, requireFreeSpace } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { checkFile } from './check-file.ts'
import type { Check, CheckedFile } from './check-rows.ts'
import { ImportError } from './errors.ts'
import type { Import } from './import.ts'
import { inTurn } from './import-turn.ts'
import { MAX_BATCH } from './item.ts'
import { findLayouts } from './layouts.ts'
import { deleteParts, inParts, readParts, writeParts } from './parts.ts'
import { NOTHING_SENT, runImport } from './run.ts'
import type { Work } from './runner.ts'
import { texts } from './texts.ts'

export interface TasksOptions {
  store: KeyValueStore
  /** The folder for files while they are checked. */
  dir: string
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
}

/** What a check has found, for the page. */
export type Reading = Check & Pick<CheckedFile, 'problems'>

const resultName = (name: 'items' | 'report' | 'reading', run: number) => `${name} ${run}`

/** Reads what the last check has found; null if it is gone. */
export async function findReading(store: KeyValueStore, { id, checkedRun }: Import): Promise<Reading | null> {
  for await (const bytes of readParts(store, id, resultName('reading', checkedRun), { count: 1 }))
    return JSON.parse(bytes.toString())
  return null
}

/** The report on the problems, in chunks. */
export const readReport = (store: KeyValueStore, { id, checkedRun, parts }: Import) =>
  readParts(store, id, resultName('report', checkedRun), { count: parts.report })

/**
 * Checks the file: as the draft says, or else by a confirmed layout that fits. Throws `UnreadableFileError` if an earlier
 * check has not ended, or the file was not received to its end.
 */
export async function check(
  options: TasksOptions,
  job: Import,
  { report, save, signal }: Work,
): Promise<Partial<Import>> {
  if (job.isBeingRead) throw new UnreadableFileError(0, texts.unreadable.readerDied)
  if (job.parts.file === 0) throw new UnreadableFileError(0, texts.errors.uploadInterrupted)
  report({ isBeingRead: true })
  await retry(save, { signal })
  const { dir } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(dir, WORK))
  try {
    return await checkIn(folder, options, job, signal)
  } finally {
    await rm(folder, { recursive: true, force: true })
    report({ isBeingRead: false })
    // Stopped, and not dead: it is read again after the restart.
    if (signal.aborted) await save().catch(() => {})
  }
}

async function checkIn(
  folder: string,
  { store }: TasksOptions,
  job: Import,
  signal: AbortSignal,
): Promise<Partial<Import>> {
  const { id, run, parts, draft } = job
  const path = join(folder, 'file')
  const itemsPath = join(folder, 'items')
  const reportPath = join(folder, 'report')
  await deleteResults(store, job)
  requireFreeSpace(folder)
  const file = readParts(store, id, 'file', { count: parts.file })
  await pipeline(Readable.from(file), createWriteStream(path, { mode: 0o600 }))
  const layouts = draft ? [] : await findLayouts(store, job)
  const { check, problems } = await checkFile(
    { path, draft: draft ?? undefined, layouts, itemsPath, reportPath },
    { signal },
  )
  const { rows, validRows, invalidRows, layout } = check
  let storedBytes = job.storedBytes
  const write = (name: 'items' | 'report' | 'reading', chunks: AsyncIterable<Uint8Array> | Uint8Array[]) =>
    writeParts(store, id, resultName(name, run), Readable.from(chunks), (bytes) => {
      storedBytes += bytes
    })
  const items = existsSync(itemsPath)
    ? await write('items', bodiesOf(readBatches(itemsPath, { total: validRows })))
    : 0
  const report = existsSync(reportPath) ? await write('report', inParts(createReadStream(reportPath))) : 0
  await write('reading', [Buffer.from(JSON.stringify({ ...check, problems } satisfies Reading))])
  return {
    state: 'ready',
    rows,
    validRows,
    invalidRows,
    parts: { file: parts.file, items, report },
    checkedRun: run,
    storedBytes,
    draft: check.draft,
    confirmed: layout && { by: layout.confirmedBy, at: layout.confirmedAt },
    failure: null,
  }
}

async function* bodiesOf(batches: AsyncIterable<Batch>) {
  for await (const { body } of batches) yield body
}

/** Sends the items, from the first one that the platform has not accepted yet. */
export async function send(options: TasksOptions, job: Import, work: Work): Promise<Partial<Import>> {
  const { store, catalogueImports, source } = options
  const { userId, bxcontext, catalogueId } = job
  let progress = job.progress
  const onProgress = (next: NonNullable<Import['progress']>) => {
    progress = next
    work.report({ progress: next })
  }
  const onWait = () =>
    onProgress({
      phase: 'starting',
      ...NOTHING_SENT,
      processed: null,
      ...progress,
      waiting: texts.sending.waitingForTurn,
    })
  await inTurn({ store, catalogueId, signal: work.signal, onWait }, (signal) =>
    runImport({
      catalogueImports,
      source: source({ userId, bxcontext }),
      signal,
      catalogueId,
      batchId: job.batchId,
      batches: (skip) => storedBatches(store, job, skip),
      accepted: progress,
      onProgress: (next) => onProgress({ ...next }),
      save: work.save,
    }),
  )
  return { state: 'completed', failure: null }
}

/** The batches in the store without the first `skip`. Throws `ImportError` (409) if one is gone. */
async function* storedBatches(store: KeyValueStore, job: Import, skip: number): AsyncGenerator<Batch> {
  const { id, checkedRun, parts, validRows } = job
  let batch = skip
  const name = resultName('items', checkedRun)
  for await (const body of readParts(store, id, name, { count: parts.items, from: skip }))
    yield { body, items: Math.min(MAX_BATCH, validRows - MAX_BATCH * batch++) }
  if (batch < parts.items) throw new ImportError(409, 'conflict', texts.failures.itemsGone)
}

/** Deletes what an earlier check has written. */
export async function deleteResults(store: KeyValueStore, { id, checkedRun, parts }: Import): Promise<void> {
  await deleteParts(store, id, resultName('items', checkedRun), parts.items)
  await deleteParts(store, id, resultName('report', checkedRun), parts.report)
  await deleteParts(store, id, resultName('reading', checkedRun), 1)
}

/** Deletes what a completed import needs no more: its file and its items. */
export async function deleteSent(store: KeyValueStore, { id, checkedRun, parts }: Import): Promise<void> {
  await deleteParts(store, id, 'file', parts.file)
  await deleteParts(store, id, resultName('items', checkedRun), parts.items)
}

/** First part of the names of folders in which files are checked. */
export const WORK = 'check-'

/** Removes the folders of processes that were killed more than a day ago. */
export async function removeLeftOvers(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name)
    const found = await stat(path).catch(() => null)
    if (name.startsWith(WORK) && found && Date.now() - found.mtimeMs > 86_400_000)
      await rm(path, { recursive: true, force: true })
  }
}
