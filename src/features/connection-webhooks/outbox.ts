import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { appOwner, type Key, type KeyValueStore, update } from '../../connect/stores.ts'

const deliverySchema = z.object({
  /** The body, exactly as it is signed and sent. */
  body: z.string(),
  /** How many attempts have failed. */
  failures: z.number().int().nonnegative(),
  /** When to try next, in ms since 1970. */
  nextAt: z.number(),
})
/** A webhook that has to be delivered. */
export type Delivery = z.infer<typeof deliverySchema>

/** A stored delivery with the exact text that compare-and-set compares. */
export interface StoredDelivery {
  id: string
  delivery: Delivery
  value: string
}

/** Owns the deliveries of all users. */
export const OUTBOX_OWNER = appOwner('webhooks')

const KIND = 'webhook-delivery'
const keyOf = (id: string): Key => ({ kind: KIND, owner: OUTBOX_OWNER, id })

/** Deliveries in the store, shared by all processes. Every method throws `StoreUnavailableError`. */
export const createOutbox = (store: KeyValueStore) => ({
  add: (id: string, delivery: Delivery): Promise<void> => store.set(keyOf(id), JSON.stringify(delivery)),

  async list(): Promise<StoredDelivery[]> {
    const entries = await store.list(KIND, OUTBOX_OWNER)
    return entries.flatMap(({ key, value }) => {
      const delivery = deliverySchema.safeParse(parseJson(value)).data
      return delivery ? { id: key.id, delivery, value } : []
    })
  },

  async replace({ id, value }: StoredDelivery, next: Delivery): Promise<void> {
    await update(store, keyOf(id), (current) => (current === value ? JSON.stringify(next) : current))
  },

  async remove({ id }: StoredDelivery): Promise<void> {
    await store.delete(keyOf(id))
  },
})
