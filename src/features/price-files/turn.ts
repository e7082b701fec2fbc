/** Imports into one catalogue run one after the other, whichever process or command sends them. */
import { retry, sleep } from '../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore, type Lease } from '../../connect/stores.ts'

/** How long the lease of a killed process keeps others from importing, in ms. */
const LEASE_MS = 10_000
/** How often another import into the same catalogue is looked at, in ms. */
const POLL_MS = 1_000

export const turnKey = (catalogueId: string): Key => ({
  kind: 'catalogue-import',
  owner: appOwner('catalogue-imports'),
  id: catalogueId,
})

/** Takes the turn of a catalogue. Resolves to null if another import has it. */
export const takeTurn = (store: KeyValueStore, catalogueId: string): Promise<Lease | null> =>
  acquireLease(store, turnKey(catalogueId), LEASE_MS)

/** Resolves when no other import into the catalogue is running; `onWait` is called while one is. Throws the signal's reason. */
export async function waitForTurn(
  store: KeyValueStore,
  catalogueId: string,
  { signal, onWait }: { signal: AbortSignal; onWait(): void },
): Promise<Lease> {
  for (;;) {
    const lease = await retry(() => takeTurn(store, catalogueId), { signal })
    if (lease) return lease
    onWait()
    await sleep(POLL_MS, signal)
  }
}
