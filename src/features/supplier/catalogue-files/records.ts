import { randomUUID } from 'node:crypto'
import { parseJson } from '../../../connect/index.ts'
import { acquireLease, appOwner, type Key, type KeyValueStore } from '../../../connect/stores.ts'
import { badInput } from '../../../web/feature-api.ts'
import { MAX_BATCH } from './contract.ts'
import { compare, type Difference } from './difference.ts'
import { conflict, ImportError } from './errors.ts'
import {
  checked,
  forgotten,
  type Import,
  importSchema,
  type NewFile,
  type Stored,
  started,
} from './import.ts'
import { texts } from './import-texts.ts'
import { type Item, keyOf } from './items.ts'

/** How long the store keeps items, and records that no process works on, in ms: longer than a price list is valid. */
const KEPT_MS = 400 * 24 * 3_600_000
/** How long a killed process keeps the lease of a catalogue, in ms. */
const LEASE_MS = 10_000

/** The index of the first item in each batch, for this many items. */
export const batchesOf = (items: number): number[] =>
  Array.from({ length: Math.ceil(items / MAX_BATCH) }, (_, batch) => batch * MAX_BATCH)

const KIND = 'catalogue-import'
const parse = (value: string | null): Import | null =>
  importSchema.safeParse(parseJson(value ?? '')).data ?? null
const itemsKey = (id: string, from: number): Key => ({ kind: 'catalogue-items', owner: id, id: String(from) })
/** The items to which a record refers: those of its file, and those that the catalogue has received. */
const itemsIn = (job: Import | null): Stored[] =>
  job ? [job, ...(job.received ? [job.received] : [])].filter(({ items }) => items > 0) : []

/**
 * Stores the record of each catalogue's last file, and the items to which it refers, in batches of 1,000, because one large value
 * would delay other requests. Every method throws `StoreUnavailableError`.
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

  #key(catalogueId: string): Key {
    return { kind: KIND, owner: this.#owner, id: catalogueId }
  }

  /** Takes the lease of a catalogue; null if another process has it. Only the holder sends. */
  lease(catalogueId: string) {
    return acquireLease(this.#store, { ...this.#key(catalogueId), kind: 'catalogue-lease' }, this.#leaseMs)
  }

  async find(catalogueId: string): Promise<Import | null> {
    return parse(await this.#store.get(this.#key(catalogueId)))
  }

  /** The imports that are being sent. `withExpiring`: all other imports too, which reads the whole store. */
  async list({ withExpiring = false } = {}): Promise<Import[]> {
    const all = withExpiring ? this.#store.ofOwner(this.#owner) : this.#store.list(KIND, this.#owner)
    return (await all).flatMap(({ key, value }) => (key.kind === KIND && parse(value)) || [])
  }

  /**
   * Changes the record of a file. `seen`: the record as it was read before. Resolves to the new record. Throws errors of `to`, and
   * `ImportError` (409) if another file has replaced this one.
   */
  change(seen: Import, to: (job: Import) => Import): Promise<Import> {
    const checkedTo = (job: Import | null) => {
      if (job?.id !== seen.id) throw conflict(texts.errors.changed)
      return to(job)
    }
    return this.#update(seen.catalogueId, checkedTo, seen)
  }

  /** Stores a valid file, which waits to be sent. Throws `ImportError` (409) while the previous file is being sent. */
  async add(file: NewFile, items: Item[]): Promise<Import> {
    const stored = { id: randomUUID(), items: items.length }
    try {
      for (const from of batchesOf(items.length)) {
        const batch = JSON.stringify(items.slice(from, from + MAX_BATCH))
        await this.#store.set(itemsKey(stored.id, from), batch, KEPT_MS)
      }
      return await this.#update(file.catalogueId, (before) => checked(before, { ...file, ...stored }))
    } catch (error) {
      // If only the answer of the store was lost, the record refers to the items.
      if ((await this.find(file.catalogueId))?.id !== stored.id) await this.#deleteItems(stored)
      throw error
    }
  }

  /** If this user sent the last file of a catalogue, deletes it, but not the items that the catalogue has received. */
  async forget(userId: string, catalogueId: string): Promise<void> {
    await this.#update(catalogueId, (job) => (job?.by?.userId === userId ? forgotten(job) : job))
  }

  /**
   * Changes a record, and deletes the items to which it no longer refers. `seen`: an earlier state of the record, whose items may
   * be left if the answer to the previous attempt was lost.
   */
  async #update<T extends Import | null>(
    catalogueId: string,
    to: (job: Import | null) => T,
    seen: Import | null = null,
  ): Promise<T> {
    for (;;) {
      const value = await this.#store.get(this.#key(catalogueId))
      const before = parse(value)
      const job = to(before)
      const life = job?.state === 'running' ? undefined : KEPT_MS
      const text = job && JSON.stringify(job)
      const isStored =
        job === before || (await this.#store.compareAndSet(this.#key(catalogueId), value, text, life))
      if (!isStored) continue
      const kept = new Set(itemsIn(job).map(({ id }) => id))
      for (const stored of [...itemsIn(seen), ...itemsIn(before)])
        if (!kept.has(stored.id)) await this.#deleteItems(stored)
      return job
    }
  }

  /** The batch that begins with the item at this index. Throws `ImportError` (409) if it has expired. */
  async batch(id: string, from: number): Promise<Item[]> {
    const text = await this.#store.get(itemsKey(id, from))
    if (text === null) throw conflict(texts.errors.gone)
    return JSON.parse(text)
  }

  async #itemsOf({ id, items }: Stored): Promise<Item[]> {
    const found: Item[] = []
    for (const from of batchesOf(items)) found.push(...(await this.batch(id, from)))
    return found
  }

  async #deleteItems({ id, items }: Stored): Promise<void> {
    for (const from of batchesOf(items)) await this.#store.delete(itemsKey(id, from))
  }

  /** The items that the catalogue of this file received last, by the `keyOf` their codes; null if there are none. */
  async received(job: Import | null): Promise<Map<string, Item> | null> {
    if (!job?.received) return null
    try {
      const items = await this.#itemsOf(job.received)
      return new Map(items.map((item) => [keyOf(item.code), item]))
    } catch (error) {
      // They have expired, or others have replaced them.
      if (error instanceof ImportError) return null
      throw error
    }
  }

  /** Compares a file with the items that its catalogue has received. Throws `ImportError` (409) if the file has expired. */
  async difference(job: Import): Promise<Difference> {
    return compare(await this.#itemsOf(job), await this.received(job))
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
}
