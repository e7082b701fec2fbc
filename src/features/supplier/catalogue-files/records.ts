import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { badInput } from '../../../web/feature-api.ts'
import { MAX_BATCH } from './contract.ts'
import { compare, type Difference } from './difference.ts'
import { conflict, ImportError } from './errors.ts'
import { checked, forgotten, type Import, importSchema, type NewFile, started } from './import.ts'
import { texts } from './import-texts.ts'
import { type Item, keyOf } from './items.ts'

const HOUR_MS = 3_600_000
/** How long a file waits to be sent, in ms. */
const READY_MS = HOUR_MS
/** How long the store keeps the record of a completed import, in ms. */
export const COMPLETED_MS = 30 * 24 * HOUR_MS
/** How long the store keeps the items that were sent, in ms, which is longer than a price list is valid. */
const SENT_MS = 400 * 24 * HOUR_MS
/** How long a killed process keeps the lease of a catalogue, in ms. */
const LEASE_MS = 10_000

/** The id of stored items, and their number. */
const storedSchema = importSchema.pick({ id: true, items: true })
type Stored = z.infer<typeof storedSchema>

/** The index of the first item in each batch, for this many items. */
export const batchesOf = (items: number): number[] =>
  Array.from({ length: Math.ceil(items / MAX_BATCH) }, (_, batch) => batch * MAX_BATCH)

const parse = <T>(schema: z.ZodType<T>, value: string | null): T | null =>
  schema.safeParse(parseJson(value ?? '')).data ?? null
const itemsKey = (id: string, from: number): Key => ({ kind: 'catalogue-items', owner: id, id: String(from) })
const byCode = (items: Item[]) => new Map(items.map((item) => [keyOf(item.code), item]))

/**
 * Stores the record of each catalogue's last file, and the items that the catalogue received from this app. Items are in batches
 * of 1,000, because one large value would delay other requests. Every method throws `StoreUnavailableError`.
 */
export class Records {
  readonly #store: KeyValueStore
  readonly #owner: string
  readonly #leaseMs: number
  /** `apiUrl`: the address of the platform's API, which with a catalogue's id identifies the catalogue. */
  constructor(store: KeyValueStore, apiUrl: string, leaseMs = LEASE_MS) {
    this.#store = store
    this.#owner = appOwner(`catalogue-files ${apiUrl}`)
    this.#leaseMs = leaseMs
  }

  #key(kind: 'catalogue-import' | 'catalogue-received' | 'catalogue-lease', id: string): Key {
    return { kind, owner: this.#owner, id }
  }

  /** Takes the lease of a catalogue; null if another process has it. Only the holder sends, and stores the received items. */
  lease(catalogueId: string) {
    return acquireLease(this.#store, this.#key('catalogue-lease', catalogueId), this.#leaseMs)
  }

  async find(catalogueId: string): Promise<Import | null> {
    return parse(importSchema, await this.#store.get(this.#key('catalogue-import', catalogueId)))
  }

  /** The imports that are under way, failed or stopped. `withExpiring`: all other imports too, which reads the whole store. */
  async list({ withExpiring = false } = {}): Promise<Import[]> {
    const kind = 'catalogue-import'
    const all = withExpiring ? this.#store.ofOwner(this.#owner) : this.#store.list(kind, this.#owner)
    return (await all).flatMap(({ key, value }) => (key.kind === kind && parse(importSchema, value)) || [])
  }

  /**
   * Changes the record of a file, which then expires after `ttlMs`, or never. Resolves to the new record. Throws errors of `to` and
   * `ImportError` (409) if another file has replaced this one.
   */
  change(
    { catalogueId, id }: Pick<Import, 'catalogueId' | 'id'>,
    to: (job: Import) => Import,
    ttlMs?: number,
  ): Promise<Import> {
    const change = (job: Import | null) => {
      if (job?.id !== id) throw conflict(texts.errors.changed)
      return to(job)
    }
    return this.#update(catalogueId, change, ttlMs)
  }

  /** Stores a valid file, which can be sent within an hour. Throws `ImportError` (409) while the previous file is under way. */
  async add(file: NewFile, items: Item[]): Promise<Import> {
    const id = randomUUID()
    await this.#write(id, items, READY_MS)
    let before: Import | null = null
    const change = (job: Import | null) => {
      before = job
      return checked(job, { ...file, id, items: items.length })
    }
    const job = await this.#update(file.catalogueId, change, READY_MS)
    await this.#deleteUnreceived(before, id)
    return job
  }

  /** If this user sent the last file of a catalogue, deletes its record, or the name of the user if the import is under way. */
  async forget(userId: string, catalogueId: string): Promise<void> {
    let deleted: Import | null = null
    await update(this.#store, this.#key('catalogue-import', catalogueId), (value) => {
      const job = parse(importSchema, value)
      deleted = null
      if (job?.by?.userId !== userId) return value
      const next = forgotten(job)
      if (next) return JSON.stringify(next)
      deleted = job
      return null
    })
    await this.#deleteUnreceived(deleted)
  }

  async #update(catalogueId: string, to: (job: Import | null) => Import, ttlMs?: number): Promise<Import> {
    const change = (value: string | null) => JSON.stringify(to(parse(importSchema, value)))
    const key = this.#key('catalogue-import', catalogueId)
    return importSchema.parse(JSON.parse(await update(this.#store, key, change, ttlMs)))
  }

  /** The batch that begins with the item at this index. Throws `ImportError` (409) if it has expired. */
  async batch(id: string, from: number): Promise<Item[]> {
    const text = await this.#store.get(itemsKey(id, from))
    if (text === null) throw conflict(texts.errors.gone)
    return JSON.parse(text)
  }

  /** The first items with this id, in whole batches. Throws `ImportError` (409) if they have expired. */
  async itemsOf({ id, items }: Stored): Promise<Item[]> {
    const found: Item[] = []
    for (const from of batchesOf(items)) found.push(...(await this.batch(id, from)))
    return found
  }

  /** Keeps the items of an import as long as received items. */
  async keepItems(job: Import): Promise<void> {
    await this.#write(job.id, await this.itemsOf(job), SENT_MS)
  }

  async #write(id: string, items: readonly Item[], ttlMs: number): Promise<void> {
    for (const from of batchesOf(items.length))
      await this.#store.set(itemsKey(id, from), JSON.stringify(items.slice(from, from + MAX_BATCH)), ttlMs)
  }

  async #deleteItems({ id, items }: Stored): Promise<void> {
    for (const from of batchesOf(items)) await this.#store.delete(itemsKey(id, from))
  }

  /** Deletes the items of an import, unless it is completed: then they are the received items. */
  async #deleteUnreceived(job: Import | null, next?: string): Promise<void> {
    if (job && job.state !== 'completed' && job.id !== next) await this.#deleteItems(job)
  }

  /** The items that a catalogue received last, by the `keyOf` their codes; null if it received no items in the last 400 days. */
  async received(catalogueId: string): Promise<Map<string, Item> | null> {
    const key = this.#key('catalogue-received', catalogueId)
    const value = await this.#store.get(key)
    const where = parse(storedSchema, value)
    try {
      return where && byCode(await this.itemsOf(where))
    } catch (error) {
      if (!(error instanceof ImportError)) throw error
      // Other items replaced them during the read, or they have expired.
      return (await this.#store.get(key)) === value ? null : this.received(catalogueId)
    }
  }

  /** Compares a file with the items that its catalogue has received so far. Throws `ImportError` (409) if the file has expired. */
  async difference(job: Import): Promise<Difference> {
    return compare(await this.itemsOf(job), await this.received(job.catalogueId))
  }

  /**
   * Starts the import of a file after a person has seen the difference. `code`: the code of that difference. `isConfirmed`: whether
   * the person has confirmed its questions. Throws `ImportError` (409) if the file or the difference has changed since, and
   * `invalid_input` (400) if a question is not confirmed.
   */
  async start(job: Import, code: string, isConfirmed: boolean): Promise<Import> {
    const difference = await this.difference(job)
    if (difference.code !== code) throw conflict(texts.errors.changed)
    if (difference.asks.length > 0 && !isConfirmed) throw badInput('confirm', texts.rules.confirm)
    // The catalogue has received no items since, because another import would have replaced this file.
    return this.change(job, started)
  }

  /** Stores the items that a catalogue received: all items of an import, or else the earlier items and the accepted items. */
  async addReceived({ id, items, accepted, catalogueId }: Import, isCompleted: boolean): Promise<void> {
    const key = this.#key('catalogue-received', catalogueId)
    const value = await this.#store.get(key)
    const before = parse(storedSchema, value)
    let next = { id, items }
    if (!isCompleted) {
      if (accepted === 0) return
      const known = (await this.received(catalogueId)) ?? []
      const merged = new Map([...known, ...byCode(await this.itemsOf({ id, items: accepted }))])
      next = { id: randomUUID(), items: merged.size }
      await this.#write(next.id, [...merged.values()], SENT_MS)
    }
    const text = JSON.stringify(next)
    const now = await update(this.#store, key, (found) => (found === value ? text : found), SENT_MS)
    // If the text differs, another process has the lease by now. An import may be sent again after all of its items were received.
    if (now === text && before && before.id !== id) await this.#deleteItems(before)
  }
}
