import { appOwner, type Key, type KeyValueStore } from '../store/store.ts'
import { claim } from '../store/update.ts'
import { type ConnectionRef, kindOf } from './connection.ts'

/** Which users are connected to a bxcontext, so that a webhook event finds them without a scan. */
export interface BxcontextIndex {
  add(ref: ConnectionRef): Promise<void>
  remove(ref: ConnectionRef): Promise<void>
  usersOf(bxcontext: string): Promise<string[]>
}

/** `platform`: its name. The methods throw `StoreUnavailableError`. */
export function createBxcontextIndex(store: KeyValueStore, platform: string): BxcontextIndex {
  const indexKind = kindOf(platform, 'users')
  const keyOf = ({ userId, bxcontext }: ConnectionRef): Key => ({
    kind: indexKind,
    owner: appOwner(bxcontext),
    id: userId,
  })
  return {
    async add(ref) {
      await claim(store, keyOf(ref), '1')
    },
    async remove(ref) {
      await store.delete(keyOf(ref))
    },
    usersOf: async (bxcontext) =>
      (await store.list(indexKind, appOwner(bxcontext))).map(({ key: { id } }) => id),
  }
}
