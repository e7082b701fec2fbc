/** The turn of a catalogue: only the process that has it sends into the catalogue, so that imports go one after the other. */
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLease, appOwner, type Key, type KeyValueStore, type Lease } from '../../../connect/stores.ts'
import type { Item } from './batches.ts'
import { ImportError } from './errors.ts'
import { type Import, isOfCommandLine } from './import.ts'
import { ReceivedStore } from './received-store.ts'
import { type Sending, StoredImports } from './stored.ts'
import { texts } from './texts.ts'

/** What is needed to take the turn of a catalogue. */
export interface Turns {
  store: KeyValueStore
  stored: StoredImports
  received: ReceivedStore
  /** How long the turn of a killed process keeps others from importing, in ms; 10 s by default. */
  turnMs?: number | undefined
}

/** `apiUrl`: the address of the platform's API. */
export const openTurns = (store: KeyValueStore, apiUrl: string, turnMs?: number): Turns => ({
  store,
  stored: new StoredImports(store),
  received: new ReceivedStore(store, apiUrl),
  turnMs,
})

/** How long to wait for a stopped import to end its last request, and the pause between two attempts to take the turn, in ms. */
const [WAIT_MS, LOOK_MS] = [3_000, 50]

export const turnKey = (catalogueId: string): Key => ({
  kind: 'catalogue-import',
  owner: appOwner('catalogue-imports'),
  id: catalogueId,
})

/** Takes the turn of a catalogue; resolves to null if somebody else has it. Throws `StoreUnavailableError`. */
export const takeTurn = ({ store, turnMs = 10_000 }: Pick<Turns, 'store' | 'turnMs'>, catalogueId: string) =>
  acquireLease(store, turnKey(catalogueId), turnMs)

/**
 * Takes the turn of a catalogue to send into it, and settles what an earlier import has left. Throws `ImportError` (409) if another
 * import into the catalogue is running, and `StoreUnavailableError`.
 */
export async function takeFreeTurn(turns: Turns, catalogueId: string): Promise<Lease> {
  const until = performance.now() + WAIT_MS
  for (;;) {
    const turn = await takeTurn(turns, catalogueId)
    try {
      const left = await turns.stored.sendingInto(catalogueId)
      const job = left && (await turns.stored.find(left))
      if (job?.state === 'running') throw isRunning()
      if (turn && left) await settle(turns, left)
      if (turn) return turn
      if (performance.now() > until) throw isRunning()
    } catch (error) {
      await turn?.release()
      throw error
    }
    await pause(LOOK_MS)
  }
}

const isRunning = () => new ImportError(409, 'conflict', texts.errors.otherRunning)

/** Settles what an earlier import into a catalogue has left, if there is anything. Throws as `takeFreeTurn`. */
export async function settleLeft(turns: Turns, catalogueId: string): Promise<void> {
  if (await turns.stored.sendingInto(catalogueId)) await (await takeFreeTurn(turns, catalogueId)).release()
}

/** Merges what the platform has accepted of an import that is not running, and deletes it with its file. Throws as `takeFreeTurn`. */
export async function deleteImport(turns: Turns, job: Import): Promise<void> {
  const { stored } = turns
  const isUnsettled = (await stored.sendingInto(job.catalogueId))?.id === job.id
  if (isUnsettled) await settleLeft(turns, job.catalogueId)
  await stored.delete(job)
}

/**
 * Merges what the platform has accepted of an import that nobody sends any more, and removes its note. The caller must have the
 * turn of the catalogue. If a process dies meanwhile, the next one does all of it again.
 */
export async function settle({ stored, received }: Turns, sending: Sending): Promise<void> {
  const job = await stored.find(sending)
  const sent = job && (await acceptedOf(stored, job))
  // A catalogue that has received nothing gets no record.
  if (sent && (sent.items.length > 0 || job.receivedRevision !== '')) {
    const receivedRevision = await received.merge(job.catalogueId, sent)
    // With this revision, the rest can be resumed, as long as nothing else is sent.
    await stored.change(job, (now) => ({ ...now, receivedRevision }))
  }
  if (job && isOfCommandLine(job)) await stored.delete(job)
  else if (job?.state === 'completed') await stored.deleteSent(job)
  await stored.forgetSending(sending)
}

/** What the platform has accepted of an import; null if it was never sent, or if it was merged before and its items are gone. */
async function acceptedOf(stored: StoredImports, job: Import) {
  const { fileName, userId, bxcontext, state, progress, endedAt, createdAt } = job
  const by = isOfCommandLine(job) ? ('command line' as const) : { userId, bxcontext }
  const found = (await stored.reading(job))?.found
  if (!progress || !found) return null
  const items: Pick<Item, 'code' | 'price'>[] = []
  try {
    for await (const { code, price } of stored.items(job, progress.batches)) items.push({ code, price })
  } catch (error) {
    if (error instanceof ImportError) return null
    throw error
  }
  const { choice, memory } = found
  const at = endedAt ?? createdAt
  return { fileName, at, by, choice, memory, items, isComplete: state === 'completed' }
}
