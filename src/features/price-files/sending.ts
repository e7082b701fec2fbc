import type { ConnectionRef, TokenSource } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import type { Batch } from './batches.ts'
import type { CatalogueImports } from './catalogue-imports.ts'
import { MAX_BATCH } from './contract.ts'
import { ImportError } from './errors.ts'
import type { Import } from './import.ts'
import { inTurn } from './import-turn.ts'
import { batchesOf, readItems } from './reading.ts'
import { NOTHING_SENT, runImport } from './run.ts'
import type { Work } from './runner.ts'
import { texts } from './texts.ts'

export interface SendingOptions {
  store: KeyValueStore
  catalogueImports: CatalogueImports
  /** Returns the token source of a connection. */
  source(ref: ConnectionRef): TokenSource
}

/** Sends the items when it is the import's turn, from the first one that the platform has not accepted yet. */
export async function send(
  { store, catalogueImports, source }: SendingOptions,
  job: Import,
  work: Work,
): Promise<void> {
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
      batchId: job.id,
      batches: (skip) => storedBatches(store, job, skip),
      accepted: progress,
      onProgress: (next) => onProgress({ ...next }),
      save: work.save,
    }),
  )
}

/** The batches in the store without the first `skip`. Throws `ImportError` (409) if one is gone. */
async function* storedBatches(store: KeyValueStore, job: Import, skip: number): AsyncGenerator<Batch> {
  let batch = skip
  for await (const body of readItems(store, job, skip))
    yield { body, items: Math.min(MAX_BATCH, job.validRows - MAX_BATCH * batch++) }
  if (batch < batchesOf(job.validRows)) throw new ImportError(409, 'conflict', texts.failures.itemsGone)
}
