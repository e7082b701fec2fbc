/** Imports into one catalogue run one after the other, whichever process or command sends them. */
import { retry, sleep } from '../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore, type Lease } from '../../connect/stores.ts'

/** How often another import into the same catalogue is looked at, in ms. */
const POLL_MS = 1_000

export const turnKey = (catalogueId: string): Key => ({
  kind: 'catalogue-import',
  owner: appOwner('catalogue-imports'),
  id: catalogueId,
})

/** Takes the turn of a catalogue. `ms`: how long that of a killed process lasts. Resolves to null if another import has it. */
export const takeTurn = (store: KeyValueStore, catalogueId: string, ms = 10_000): Promise<Lease | null> =>
  acquireLease(store, turnKey(catalogueId), ms)

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
