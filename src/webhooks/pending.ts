import type { BuilderRequests } from '../platform/builder-requests.ts'
import type { BuilderRequest } from '../platform/contract.ts'
import type { TokenSource } from '../platform/token-source.ts'
import type { Key, Store } from '../store/store.ts'

export interface Pending {
  /** The pending builder requests of a connection, from the platform. Throws what the call throws. */
  fetch(userId: string, context: string): Promise<BuilderRequest[]>
  /** What the latest fetch found, as a text that changes when the requests do; null before the first. */
  known(userId: string, context: string): Promise<string | null>
  /** How many the latest fetch found. */
  count(userId: string, context: string): Promise<number>
}

export interface PendingOptions {
  store: Store
  builderRequests: Pick<BuilderRequests, 'list'>
  source(userId: string, context: string): TokenSource
}

const key = (userId: string, context: string): Key => ({
  kind: 'builder-requests',
  owner: userId,
  id: context,
})

/** The builder requests that wait for a connection, and a note of their ids, by which pages see that some arrived. */
export function createPending({ store, builderRequests, source }: PendingOptions): Pending {
  const known: Pending['known'] = (userId, context) => store.get(key(userId, context))
  return {
    known,
    async fetch(userId, context) {
      const requests = await builderRequests.list(source(userId, context))
      const note = JSON.stringify(requests.map((request) => String(request.integrationConnectionId)))
      if (note !== (await known(userId, context))) await store.set(key(userId, context), note)
      return requests
    },
    async count(userId, context) {
      return JSON.parse((await known(userId, context)) ?? '[]').length
    },
  }
}
