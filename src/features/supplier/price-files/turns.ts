/** The turn of a catalogue: one import into it is sent at a time, by whichever process, page or command. */
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLease, appOwner, type Key, type KeyValueStore, type Lease } from '../../../connect/stores.ts'
import type { Item } from './batches.ts'
import { ImportError } from './errors.ts'
import { type Import, isOfCommand, NOTHING_SENT, stopped } from './import.ts'
import type { Merge, ReceivedStore } from './received-store.ts'
import type { Active, StoredImports } from './stored.ts'
import { texts } from './texts.ts'

/** What the turn of a catalogue is about. */
export interface Turns {
  store: KeyValueStore
  stored: StoredImports
  received: ReceivedStore
  /** How long the turn of a killed process keeps others from importing, in ms; 10 s by default. */
  turnMs?: number | undefined
}

/** How long an import that has been stopped may take to end its last request, what else may take to end, and the pause between looks, in ms. */
const [END_MS, RELEASE_MS, POLL_MS] = [3_000, 300, 50]

export const turnKey = (catalogueId: string): Key => ({
  kind: 'catalogue-import',
  owner: appOwner('catalogue-imports'),
  id: catalogueId,
})

/** Takes the turn of a catalogue; resolves to null if somebody else has it. Throws `StoreUnavailableError`. */
export const takeTurn = ({ store, turnMs = 10_000 }: Pick<Turns, 'store' | 'turnMs'>, catalogueId: string) =>
  acquireLease(store, turnKey(catalogueId), turnMs)

/**
 * Takes the turn of a catalogue to send something else, and merges what others have left. Throws `ImportError` (409) if an import
 * into it is running, and `StoreUnavailableError`.
 */
export async function takeFreeTurn(turns: Turns, catalogueId: string): Promise<Lease> {
  const { stored } = turns
  const startedAt = performance.now()
  for (;;) {
    const lease = await takeTurn(turns, catalogueId)
    try {
      const left = await stored.active(catalogueId)
      for (const active of left) {
        const job = await stored.find(active.userId, active.id)
        // That of a command that has the turn no more has died.
        if (job?.state === 'running' && !(lease && isOfCommand(job))) throw isRunning()
        if (lease) await endImport(turns, active, job)
      }
      if (lease) return lease
      if (performance.now() - startedAt > (left.length > 0 ? END_MS : RELEASE_MS)) throw isRunning()
    } catch (error) {
      await lease?.release()
      throw error
    }
    await pause(POLL_MS)
  }
}

const isRunning = () => new ImportError(409, 'conflict', texts.errors.otherRunning)

/**
 * Merges what the platform has accepted of an import that nobody sends any more, and removes its note: a process that is killed
 * before that leaves it to the next one. It is called by whoever has the turn of the catalogue.
 */
export async function endImport(
  { stored, received }: Turns,
  active: Active,
  job: Import | null,
): Promise<void> {
  const { userId, id } = active
  const ended = job?.state === 'running' ? await stored.change(userId, id, stopped) : job
  const merge = ended && (await acceptedOf(stored, ended))
  if (merge) await received.merge(active.catalogueId, merge)
  if (ended?.state === 'completed') await stored.deleteSent(ended)
  await stored.endActive(active)
}

/** What the platform has accepted of an import; null if its items are gone because it was merged before. */
async function acceptedOf(stored: StoredImports, job: Import): Promise<Merge | null> {
  const { id, fileName, userId, bxcontext, state, progress, endedAt, createdAt } = job
  const { batches } = progress ?? NOTHING_SENT
  const reading = await stored.reading(job)
  if (!reading?.found) return null
  const { choice, memory } = reading.found
  const items: Pick<Item, 'code' | 'price'>[] = []
  try {
    for await (const { code, price } of stored.items(job, batches)) items.push({ code, price })
  } catch (error) {
    if (error instanceof ImportError) return null
    throw error
  }
  const by: Merge['sent']['by'] = isOfCommand(job) ? 'command line' : { userId, bxcontext }
  const file = { fileName, at: endedAt ?? createdAt, by, choice, memory }
  return { importId: id, batches, sent: { ...file, items, isComplete: state === 'completed' } }
}
