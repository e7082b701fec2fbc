import type { Request } from 'express'
import * as z from 'zod'
import { type ConnectionRef, parseJson, retry } from '../../connect/index.ts'
import type { Key, KeyValueStore } from '../../connect/stores.ts'
import { currentUser } from '../../web/feature-api.ts'

/** The fields that every record of a history has. */
export const doneSchema = z.object({
  /** The name of the user who performed the action. */
  by: z.string(),
  /** The time of the action, in ISO 8601. */
  at: z.iso.datetime(),
})
type Done = z.infer<typeof doneSchema>

/** The fields of an action that the user of this request performs now. */
export const doneNow = (req: Request): Done => ({
  by: currentUser(req)?.name ?? '',
  at: new Date().toISOString(),
})

/** Stores users' actions on a connection that the platform doesn't list. */
export interface History<T extends Done> {
  /**
   * Stores a record, replacing any earlier record with this id. If the store fails, retries for 5 s, and then gives up without
   * an error, because the action itself has already succeeded.
   */
  note(ref: ConnectionRef, id: string, record: T): Promise<void>
  /** Resolves to the latest 500 records of a connection, newest first. Throws `StoreUnavailableError`. */
  list(ref: ConnectionRef): Promise<T[]>
}

const MAX_KEPT = 500
const RETRY_MS = 5_000

export function createHistory<T extends Done>(
  store: KeyValueStore,
  kind: string,
  schema: z.ZodType<T>,
): History<T> {
  // Encoded because a bxcontext may contain spaces: otherwise, another business's bxcontext could begin with this prefix.
  const prefixOf = ({ bxcontext }: ConnectionRef) => `${encodeURIComponent(bxcontext)} `

  async function entries(ref: ConnectionRef): Promise<{ key: Key; record: T }[]> {
    const found = await store.list(kind, ref.userId)
    return found
      .filter(({ key }) => key.id.startsWith(prefixOf(ref)))
      .flatMap(({ key, value }) => {
        const { data } = schema.safeParse(parseJson(value))
        return data === undefined ? [] : [{ key, record: data }]
      })
      .sort((a, b) => b.record.at.localeCompare(a.record.at))
  }

  return {
    async note(ref, id, record) {
      try {
        const key = { kind, owner: ref.userId, id: prefixOf(ref) + id }
        await retry(() => store.set(key, JSON.stringify(record)), { timeoutMs: RETRY_MS, pauseMs: 100 })
        for (const { key } of (await entries(ref)).slice(MAX_KEPT)) await store.delete(key)
      } catch {}
    },
    list: async (ref) => (await entries(ref)).map(({ record }) => record),
  }
}
