import { appOwner, type Key, type KeyValueStore } from '../store/store.ts'
import type { ConnectionRef } from './connection.ts'

/** Which users are connected to a bxcontext, so that a webhook event finds them without a scan. */
export interface BxcontextIndex {
  add(ref: ConnectionRef): Promise<void>
  remove(ref: ConnectionRef): Promise<void>
  usersOf(bxcontext: string): Promise<string[]>
}

/** `kind`: the record kind of the connections. Its methods throw `StoreUnavailableError`. */
export function createBxcontextIndex(store: KeyValueStore, kind: string): BxcontextIndex {
  const indexKind = `${kind}-users`
  const keyOf = ({ userId, bxcontext }: ConnectionRef): Key => ({
    kind: indexKind,
    owner: appOwner(bxcontext),
    id: userId,
  })
  return {
    async add(ref) {
      // Writes nothing if the entry exists.
      await store.compareAndSet(keyOf(ref), null, '1')
    },
    async remove(ref) {
      await store.delete(keyOf(ref))
    },
    usersOf: async (bxcontext) =>
      (await store.list(indexKind, appOwner(bxcontext))).map(({ key: { id } }) => id),
  }
}
