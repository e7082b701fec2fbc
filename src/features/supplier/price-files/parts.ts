/** Large values in the store, compressed and in parts: price files, what was found in them, their items, what a catalogue received. */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Key, KeyValueStore } from '../../../connect/stores.ts'

const [compress, expand] = [promisify(gzip), promisify(gunzip)]

/** The most bytes of a part before compression. So a command of the store takes only a few milliseconds. */
export const PART_BYTES = 512 * 1024

/** The owner of the parts, and the name of the value that they make up. */
export interface PartsOf {
  owner: string
  name: string
}

/** The parts of one kind of values, numbered from 0. They expire. Every method throws `StoreUnavailableError`. */
export class Parts {
  readonly #store: KeyValueStore
  readonly #kind: string
  readonly #ttlMs: number
  constructor(store: KeyValueStore, kind: string, ttlMs: number) {
    this.#store = store
    this.#kind = kind
    this.#ttlMs = ttlMs
  }

  async write(of: PartsOf, index: number, bytes: Uint8Array): Promise<void> {
    const text = (await compress(bytes, { level: 1 })).toString('base64')
    await this.#store.set(this.#key(of, index), text, this.#ttlMs)
  }

  /** Writes a value as parts. Resolves to their number. */
  async writeAll(of: PartsOf, value: Uint8Array): Promise<number> {
    let parts = 0
    for (let at = 0; at < value.length; at += PART_BYTES)
      await this.write(of, parts++, value.subarray(at, at + PART_BYTES))
    return parts
  }

  /** Resolves to null if the part is gone. */
  async read(of: PartsOf, index: number): Promise<Buffer | null> {
    const text = await this.#store.get(this.#key(of, index))
    return text === null ? null : expand(Buffer.from(text, 'base64'))
  }

  /** Reads a value of this many parts. Resolves to null if one of them is gone. */
  async readAll(of: PartsOf, parts: number): Promise<Buffer | null> {
    const found: Buffer[] = []
    for (let index = 0; index < parts; index++) {
      const part = await this.read(of, index)
      if (!part) return null
      found.push(part)
    }
    return Buffer.concat(found)
  }

  /** Deletes the parts from the number `from` up to, but not including, the number `to`. */
  async delete(of: PartsOf, from: number, to: number): Promise<void> {
    for (let index = from; index < to; index++) await this.#store.delete(this.#key(of, index))
  }

  #key({ owner, name }: PartsOf, index: number): Key {
    return { kind: this.#kind, owner, id: `${name} ${index}` }
  }
}
