import type { Key, Store } from '../store/store.ts'

/** Which users have a connection in a context, so that an event of the platform's finds them without a scan. */
export interface BxcontextIndex {
  add(userId: string, context: string): Promise<void>
  remove(userId: string, context: string): Promise<void>
  usersOf(context: string): Promise<string[]>
}

/** `kind` is that of the connections. */
export function createBxcontextIndex(store: Store, kind: string): BxcontextIndex {
  const indexKind = `${kind}-users`
  const key = (userId: string, context: string): Key => ({ kind: indexKind, owner: context, id: userId })
  return {
    async add(userId, context) {
      // Nothing is written when it is there.
      await store.compareAndSet(key(userId, context), null, '1')
    },
    async remove(userId, context) {
      await store.delete(key(userId, context))
    },
    usersOf: async (context) => (await store.list(indexKind, context)).map(({ key: { id } }) => id),
  }
}
