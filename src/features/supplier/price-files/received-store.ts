/**
 * What catalogues received from here, in the store: for each platform and catalogue a small record, which names people, and its
 * compressed rest in parts, which is written before the record that names it. Read it only for whom the platform shows the catalogue.
 */
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { allOwners, appOwner, type Key, type KeyValueStore, update } from '../../../connect/stores.ts'
import { createdKey } from '../../catalogues/catalogues.ts'
import {
  afterSending,
  type Received,
  receivedSchema,
  type Sent,
  type SentFile,
  senderSchema,
} from './received.ts'

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

/** How long it is known what a catalogue received after it last did, in ms: longer than a price list lasts. */
const KEPT_MS = 400 * 86_400_000
/** The most characters of a part. */
const PART_SIZE = 500_000

const HEAD = 'received'
const ownerOf = (apiUrl: string, catalogueId: string) => appOwner(`received ${apiUrl} ${catalogueId}`)
const partKey = (owner: string, revision: string, index: number): Key => ({
  kind: 'received-part',
  owner,
  id: `${revision} ${index}`,
})

const headSchema = z.object({
  apiUrl: z.string(),
  catalogueId: z.string(),
  /** Also of its parts. */
  revision: z.string(),
  parts: z.int(),
  /** Who sent each of the files, and when. */
  people: z.array(z.object({ at: z.string(), by: senderSchema })),
  /** The import that was merged last, and how much of it: merging that again changes nothing. */
  merged: z.object({ importId: z.string(), batches: z.int(), isComplete: z.boolean() }),
})
type Head = z.infer<typeof headSchema>
const parseHead = (value: string | null): Head | null =>
  headSchema.safeParse(parseJson(value ?? '')).data ?? null

const bodySchema = receivedSchema.omit({ revision: true }).extend({
  prices: z.array(z.tuple([z.string(), z.number(), z.number()])),
})

/** Whether a user sent it. */
const isOf =
  (userId: string) =>
  ({ by }: Pick<SentFile, 'by'>): boolean =>
    typeof by === 'object' && by?.userId === userId

/** What was sent, of which import, and how many of its batches the platform has accepted. */
export interface Merge {
  importId: string
  batches: number
  sent: Sent
}

/** Every method throws `StoreUnavailableError`. */
export class ReceivedStore {
  readonly #store: KeyValueStore
  readonly #apiUrl: string
  constructor(store: KeyValueStore, apiUrl: string) {
    this.#store = store
    this.#apiUrl = apiUrl
  }

  /**
   * What a catalogue received, with its revision, which is empty before it received anything. It names nobody: see
   * `senderOf`. An empty id is that of a catalogue which is to be created.
   */
  async read(catalogueId: string): Promise<{ revision: string; received: Received | null }> {
    const head = await this.#head(catalogueId)
    if (!head) {
      const isOwn =
        catalogueId === '' || (await this.#store.get(createdKey(this.#apiUrl, catalogueId))) !== null
      const received = isOwn ? { revision: '', isUnfinished: false, files: [], prices: [], isOwn } : null
      return { revision: '', received }
    }
    const body = await this.#body(head)
    const received = body && { ...body, files: body.files.map((file) => ({ ...file, by: null })) }
    // Parts that are gone are those of an earlier revision by now, or have expired.
    const isLatest = received !== null || (await this.latest(catalogueId)).revision === head.revision
    return isLatest ? { revision: head.revision, received } : this.read(catalogueId)
  }

  /** The revision of what a catalogue received, and the import that it received last. */
  async latest(catalogueId: string): Promise<{ revision: string; importId: string | null }> {
    const head = await this.#head(catalogueId)
    return { revision: head?.revision ?? '', importId: head?.merged.importId ?? null }
  }

  /** Who sent the remembered file of this time. */
  async senderOf(catalogueId: string, at: string): Promise<SentFile['by']> {
    return (await this.#head(catalogueId))?.people.find((file) => file.at === at)?.by ?? null
  }

  /** Adds what the platform has accepted of an import. Doing so again changes nothing. */
  async merge(catalogueId: string, { importId, batches, sent }: Merge): Promise<void> {
    const owner = ownerOf(this.#apiUrl, catalogueId)
    const key = { kind: HEAD, owner, id: '' }
    const merged = { importId, batches, isComplete: sent.isComplete }
    for (;;) {
      const value = await this.#store.get(key)
      const head = parseHead(value)
      // Of a catalogue that has received nothing, nothing is known.
      if (head ? JSON.stringify(head.merged) === JSON.stringify(merged) : batches === 0) return
      const { revision: _, ...body } = afterSending(head && (await this.#body(head)), sent)
      const revision = randomUUID()
      const parts = await this.#writeParts(owner, revision, body)
      const people = body.files.map(({ at, by }) => ({ at, by }))
      const next: Head = { apiUrl: this.#apiUrl, catalogueId, revision, parts, people, merged }
      const isWritten = await this.#store.compareAndSet(key, value, JSON.stringify(next))
      await this.#deleteParts(owner, isWritten ? head : next)
      if (isWritten) return
    }
  }

  /** Where a user is named: with the names of the files that this user sent. On every platform. */
  async *naming(userId: string): AsyncIterable<{ catalogueId: string; sent: number }> {
    for await (const { head } of this.#all()) {
      const sent = head.people.filter(isOf(userId)).length
      if (sent > 0) yield { catalogueId: head.catalogueId, sent }
    }
  }

  /** A deleted user becomes "someone". What the catalogues received stays, with its revision. */
  async forget(userId: string): Promise<void> {
    const forgotten = (value: string | null) => {
      const head = parseHead(value)
      if (!head?.people.some(isOf(userId))) return value
      const people = head.people.map((file) => (isOf(userId)(file) ? { ...file, by: null } : file))
      return JSON.stringify({ ...head, people })
    }
    for await (const { key } of this.#all()) await update(this.#store, key, forgotten)
  }

  async *#all(): AsyncIterable<{ key: Key; head: Head }> {
    for await (const owner of allOwners(this.#store, HEAD))
      for (const { key, value } of await this.#store.list(HEAD, owner)) {
        const head = parseHead(value)
        if (head) yield { key, head }
      }
  }

  async #head(catalogueId: string): Promise<Head | null> {
    return parseHead(await this.#store.get({ kind: HEAD, owner: ownerOf(this.#apiUrl, catalogueId), id: '' }))
  }

  /** What a record names; null if a part is gone, or another version has written it. */
  async #body({ apiUrl, catalogueId, revision, parts, people }: Head): Promise<Received | null> {
    const owner = ownerOf(apiUrl, catalogueId)
    let text = ''
    for (let index = 0; index < parts; index++) {
      const part = await this.#store.get(partKey(owner, revision, index))
      if (part === null) return null
      text += part
    }
    const json = (await expand(Buffer.from(text, 'base64'))).toString()
    const { data } = bodySchema.safeParse(parseJson(json))
    if (!data) return null
    return {
      ...data,
      revision,
      isOwn: false,
      files: data.files.map((file, index) => ({ ...file, by: people[index]?.by ?? null })),
      prices: data.prices.map(([code, price, file]) => ({ code, price, file })),
    }
  }

  /** Resolves to the number of parts. */
  async #writeParts(owner: string, revision: string, received: Omit<Received, 'revision'>): Promise<number> {
    const body = {
      isUnfinished: received.isUnfinished,
      files: received.files.map((file) => ({ ...file, by: null })),
      prices: received.prices.map(({ code, price, file }) => [code, price, file]),
    }
    const text = (await compress(JSON.stringify(body), { level: 1 })).toString('base64')
    const parts = Math.ceil(text.length / PART_SIZE)
    for (let index = 0; index < parts; index++) {
      const part = text.slice(index * PART_SIZE, (index + 1) * PART_SIZE)
      await this.#store.set(partKey(owner, revision, index), part, KEPT_MS)
    }
    return parts
  }

  async #deleteParts(owner: string, head: Head | null): Promise<void> {
    if (!head) return
    for (let index = 0; index < head.parts; index++)
      await this.#store.delete(partKey(owner, head.revision, index))
  }
}
