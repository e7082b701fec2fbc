import { sleep } from '../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore } from '../../connect/stores.ts'

/** Imports into one catalogue run one after the other, whichever process or command sends them. */
const turnKey = (catalogueId: string): Key => ({
  kind: 'catalogue-import',
  owner: appOwner('catalogue-imports'),
  id: catalogueId,
})

/** How long the lease of a killed process keeps others from importing, in ms. */
const LEASE_MS = 10_000
/** How often another import into the same catalogue is looked at, in ms. */
const POLL_MS = 1_000

/**
 * Waits until no other import into the catalogue is running. Resolves to a function that ends the turn; it ends as well when
 * `signal` aborts. Throws the signal's reason if it aborts before. `onWait`: called while another one is running.
 */
export async function waitForTurn(
  store: KeyValueStore,
  catalogueId: string,
  signal: AbortSignal,
  onWait: () => void,
): Promise<() => Promise<void>> {
  for (;;) {
    const lease = await acquireLease(store, turnKey(catalogueId), LEASE_MS)
    if (lease) {
      signal.addEventListener('abort', () => void lease.release(), { once: true })
      return lease.release
    }
    onWait()
    await sleep(POLL_MS, signal)
  }
}
