import { type ConnectionRef, retry, type TokenSource } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { UnreadableFileError } from '../../tables/errors.ts'
import { readBatches } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { checkFile } from './check-file.ts'
import { describeComparison } from './comparison.ts'
import type { ImportFiles } from './files.ts'
import type { Job } from './import-job.ts'
import { inTurn } from './import-turn.ts'
import type { JobRecord, JobTask } from './job-runner.ts'
import type { Choices } from './questions.ts'
import type { RememberedChoices } from './remembered-choices.ts'
import { NOTHING_SENT, runImport } from './run.ts'
import { texts } from './texts.ts'

export interface ImportTasksOptions {
  store: KeyValueStore
  files: ImportFiles
  remembered: RememberedChoices
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
}

/** The work of jobs. */
export function createImportTasks(options: ImportTasksOptions) {
  return {
    /**
     * Checks the file, with what the user chose or has chosen before for these headings. Throws `UnreadableFileError` if an
     * earlier check has not ended.
     */
    check:
      (job: Job): JobTask =>
      (record, signal) =>
        check(options, job, record, signal),

    /** Sends the items, from the first one that the platform has not accepted yet. */
    send:
      (job: Job): JobTask =>
      (record, signal) =>
        send(options, job, record, signal),
  }
}

async function check(
  options: ImportTasksOptions,
  job: Job,
  { update, save }: JobRecord,
  signal: AbortSignal,
): Promise<Partial<Job>> {
  if (job.isBeingRead) throw new UnreadableFileError(0, texts.unreadable.readerDied)
  await options.files.requireFile(job.id)
  update({ isBeingRead: true })
  await retry(save, { signal })
  try {
    return await read(options, job, signal)
  } finally {
    update({ isBeingRead: false })
    // Stopped, and not dead: it is read again after the restart.
    if (signal.aborted) await save()
  }
}

async function read({ files, remembered }: ImportTasksOptions, job: Job, signal: AbortSignal) {
  const { id } = job
  await files.clearResults(id)
  const task = {
    path: files.file(id),
    fileName: job.fileName,
    ...files.results(id),
    // A report has only some rows of its file: the others are not missing.
    lastPricesPath: job.isCorrection ? undefined : await files.lastPrices(job).catch(() => undefined),
  }
  const checkWith = (choices: Choices | null) => checkFile({ ...task, choices: choices ?? {} }, { signal })
  let checked = await checkWith(job.choices)
  let { choices, layoutId } = job
  const remarks: string[] = []
  if (!choices) {
    layoutId = remembered.layoutOf(checked.check)
    // Without them, the questions are asked again.
    choices = layoutId === null ? null : await remembered.find(job, layoutId).catch(() => null)
    if (choices) {
      // The prices of this file may tell their decimal sign themselves.
      const { decimal, ...others } = choices
      checked = await checkWith(others)
      if (decimal && checked.check.questions.includes('decimal')) checked = await checkWith(choices)
      else choices = others
      remarks.push(texts.remarks.lastChoices)
    }
  }
  // Until the questions are answered, the items of the file are not known.
  const isKnown = checked.check.mappingErrors.length === 0
  if (job.choices && layoutId && isKnown) await remembered.save(job, layoutId, job.choices).catch(() => {})
  const { comparison } = checked
  if (comparison) remarks.push(describeComparison(comparison))
  remarks.push(...checked.check.remarks)
  const itemsVersion = await retry(() => files.shareResults(id), { signal })
  const { problems } = checked
  const outcome = { choices, layoutId, remarks, comparison, problems, itemsVersion, failure: null }
  return { ...checked.check, ...outcome, state: 'ready' as const }
}

async function send(
  { store, files, catalogueImports, source }: ImportTasksOptions,
  job: Job,
  { current, update, save }: JobRecord,
  signal: AbortSignal,
) {
  await files.requireItems(job.id, job.itemsVersion)
  const path = files.results(job.id).itemsPath
  const onWait = () => {
    const progress = current().progress ?? { phase: 'starting', ...NOTHING_SENT, processed: null }
    update({ progress: { ...progress, waiting: texts.sending.waitingForTurn } })
  }
  await inTurn({ store, catalogueId: job.catalogueId, signal, onWait }, (turn) =>
    runImport({
      catalogueImports,
      source: source({ userId: job.userId, bxcontext: job.bxcontext }),
      signal: turn,
      catalogueId: job.catalogueId,
      batchId: job.batchId,
      batches: (skip) => readBatches(path, { total: job.validRows, skip }),
      accepted: current().progress,
      onProgress: (progress) => update({ progress: { ...progress } }),
      save,
    }),
  )
  return { state: 'completed' as const, failure: null }
}
