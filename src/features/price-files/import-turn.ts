import { retry, sleep } from '../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore, type Lease } from '../../connect/stores.ts'

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

interface TurnOptions {
  store: KeyValueStore
  catalogueId: string
  signal: AbortSignal
  /** Called while another import is running. */
  onWait(): void
}

/**
 * Runs `work` when no other import into the catalogue is running. If the store is not reachable for so long that another one
 * may begin, the signal that `work` gets aborts, and `work` is run again when it is its turn. Throws its errors, and the
 * signal's reason.
 */
export async function inTurn<T>(options: TurnOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  for (;;) {
    const turn = await waitForTurn(options)
    // Whoever takes over does not wait for a call that is not answered.
    options.signal.addEventListener('abort', () => void turn.release(), { once: true })
    try {
      return await work(AbortSignal.any([options.signal, turn.lost]))
    } catch (error) {
      if (options.signal.aborted || !turn.lost.aborted) throw error
    } finally {
      await turn.release()
    }
  }
}

async function waitForTurn({ store, catalogueId, signal, onWait }: TurnOptions): Promise<Lease> {
  for (;;) {
    const lease = await retry(() => acquireLease(store, turnKey(catalogueId), LEASE_MS), { signal })
    if (lease) return lease
    onWait()
    await sleep(POLL_MS, signal)
  }
}
