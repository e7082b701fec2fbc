/**
 * Stores what catalogues received from here. Each catalogue of a platform has a small record, which names people, and parts with
 * all else. The parts are written before the record that names them. Only people to whom the platform shows a catalogue may see
 * what it received.
 */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { allOwners, appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { createdKey } from '../../catalogues/catalogues.ts'
import { Parts } from './parts.ts'
import {
  afterSending,
  type Received,
  receivedSchema,
  type Sent,
  type SentFile,
  senderSchema,
} from './received.ts'

/** How long the store remembers what a catalogue received, in ms after the last time: longer than a price list lasts. */
const KEPT_MS = 400 * 86_400_000

const RECORD = 'received'
const ownerOf = (apiUrl: string, catalogueId: string) => appOwner(`received ${apiUrl} ${catalogueId}`)
const keyOf = (owner: string): Key => ({ kind: RECORD, owner, id: '' })

const recordSchema = z.object({
  catalogueId: z.string(),
  /** Random for each write, and the name of its parts. An import has the revision with which its file was compared. */
  revision: z.string(),
  parts: z.int(),
  /** Who sent each of the files, and when. */
  people: z.array(z.object({ at: z.string(), by: senderSchema })),
})
type ReceivedRecord = z.infer<typeof recordSchema>
const parseRecord = (value: string | null): ReceivedRecord | null =>
  recordSchema.safeParse(parseJson(value ?? '')).data ?? null

/** Returns a function that tells whether a user sent a file. */
const isOf =
  (userId: string) =>
  ({ by }: Pick<SentFile, 'by'>): boolean =>
    typeof by === 'object' && by?.userId === userId

/** Every method throws `StoreUnavailableError`. */
export class ReceivedStore {
  readonly #store: KeyValueStore
  readonly #parts: Parts
  readonly #apiUrl: string
  /** `apiUrl`: the address of the platform's API, which with a catalogue's id identifies what was received. */
  constructor(store: KeyValueStore, apiUrl: string) {
    this.#store = store
    this.#parts = new Parts(store, 'received-part', KEPT_MS)
    this.#apiUrl = apiUrl
  }

  /**
   * What a catalogue received, with its revision, which is empty before it received anything. It does not say who sent the files:
   * `senderOf` does. An empty id stands for a catalogue that is to be created.
   */
  async read(catalogueId: string): Promise<{ revision: string; received: Received | null }> {
    const record = await this.#record(catalogueId)
    if (!record) {
      const key = createdKey(this.#apiUrl, catalogueId)
      const isOwn = catalogueId === '' || (await this.#store.get(key)) !== null
      return { revision: '', received: isOwn ? { isUnfinished: false, files: [], prices: [], isOwn } : null }
    }
    const received = await this.#received(record)
    // If parts are gone, there is a newer revision by now, or they have expired.
    const isLatest = received !== null || (await this.revision(catalogueId)) === record.revision
    return isLatest ? { revision: record.revision, received } : this.read(catalogueId)
  }

  /** The revision of what a catalogue received; empty before it received anything. */
  async revision(catalogueId: string): Promise<string> {
    return (await this.#record(catalogueId))?.revision ?? ''
  }

  /** Who sent the remembered file that has this time. */
  async senderOf(catalogueId: string, at: string): Promise<SentFile['by']> {
    return (await this.#record(catalogueId))?.people.find((file) => file.at === at)?.by ?? null
  }

  /** Adds what the platform has accepted of a file. Resolves to the new revision. */
  async merge(catalogueId: string, sent: Sent): Promise<string> {
    const owner = ownerOf(this.#apiUrl, catalogueId)
    const before = await this.#record(catalogueId)
    const { files, ...received } = afterSending(before && (await this.#received(before)), sent)
    const revision = randomUUID()
    const text = JSON.stringify({ ...received, files: files.map((file) => ({ ...file, by: null })) })
    const parts = await this.#parts.writeAll({ owner, name: revision }, Buffer.from(text))
    /** The next record. A record that has changed meanwhile stays: somebody else wrote it, or this call, whose answer was lost. */
    const merged = (value: string | null) => {
      const now = parseRecord(value)
      if (now?.revision !== before?.revision) return value
      const named = new Map([...(now?.people ?? []), sent].map(({ at, by }) => [at, by]))
      const people = files.map(({ at }) => ({ at, by: named.get(at) ?? null }))
      return JSON.stringify({ catalogueId, revision, parts, people } satisfies ReceivedRecord)
    }
    const now = parseRecord(await update(this.#store, keyOf(owner), merged))
    const isMerged = now?.revision === revision
    const unused = isMerged ? before : { revision, parts }
    if (unused) await this.#parts.delete({ owner, name: unused.revision }, 0, unused.parts)
    return isMerged ? revision : this.merge(catalogueId, sent)
  }

  /** The catalogues of every platform where a user is named, with the number of remembered files that this user sent. */
  async *naming(userId: string): AsyncIterable<{ catalogueId: string; sent: number }> {
    for await (const owner of allOwners(this.#store, RECORD)) {
      const record = parseRecord(await this.#store.get(keyOf(owner)))
      const sent = record?.people.filter(isOf(userId)).length ?? 0
      if (record && sent > 0) yield { catalogueId: record.catalogueId, sent }
    }
  }

  /** A deleted user becomes "someone". What the catalogues received stays, with its revision. */
  async forget(userId: string): Promise<void> {
    const forgotten = (value: string | null) => {
      const record = parseRecord(value)
      if (!record?.people.some(isOf(userId))) return value
      const people = record.people.map((file) => (isOf(userId)(file) ? { ...file, by: null } : file))
      return JSON.stringify({ ...record, people })
    }
    for await (const owner of allOwners(this.#store, RECORD))
      await update(this.#store, keyOf(owner), forgotten)
  }

  async #record(catalogueId: string): Promise<ReceivedRecord | null> {
    return parseRecord(await this.#store.get(keyOf(ownerOf(this.#apiUrl, catalogueId))))
  }

  /** What the parts of a record have; null if a part is gone, or if another version has written them. */
  async #received({ catalogueId, revision, parts }: ReceivedRecord): Promise<Received | null> {
    const owner = ownerOf(this.#apiUrl, catalogueId)
    const bytes = await this.#parts.readAll({ owner, name: revision }, parts)
    const { data } = receivedSchema.safeParse(parseJson(bytes?.toString() ?? ''))
    return data ? { ...data, isOwn: false } : null
  }
}
