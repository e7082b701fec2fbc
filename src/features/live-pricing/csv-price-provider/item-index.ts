/**
 * The items of a price list by code, in memory: some 23 bytes an item. A query of SQLite takes twice as long.
 *
 * A record is 6 bytes (length of the code, 2; flags and length of the price, 1; category or 0, 3), the code in UTF-8, and
 * the price as text. Records are in buckets by a hash of the code, and buckets in pages, each of which begins with the
 * offsets of its buckets. A lookup compares the codes in one bucket byte by byte, so equal hashes never give a wrong price.
 */

/** What is stored of an item: default price (decimal text or POA; null: only store-specific prices), category, flags. */
export interface ItemRecord {
  price: string | null
  category: number | null
  /** From 0 to 15. */
  flags: number
}

const HEAD_BYTES = 6
/** An id has at most 100 characters, which are up to 200 UTF-16 units, each of which takes at most three bytes of UTF-8. */
const MAX_CODE = { units: 200, bytes: 600 }
const MAX_RECORD_BYTES = HEAD_BYTES + MAX_CODE.bytes + 15
const ITEMS_PER_BUCKET = 4
/** The last page may have fewer. */
const BUCKETS_PER_PAGE = 16_384

/** The code that is looked up, in UTF-8: one for all lookups, which run one after the other. */
const key = Buffer.alloc(MAX_CODE.bytes)

/** Puts a code into `key`. Returns its length in bytes, or 0 if no item can have this code. */
function setKey(code: string): number {
  if (code.length > MAX_CODE.units) return 0
  for (let at = 0; at < code.length; at++) {
    const unit = code.charCodeAt(at)
    // Half of a surrogate pair would become the replacement character, which another code may contain.
    if (unit > 127) return code.isWellFormed() ? key.write(code) : 0
    key[at] = unit
  }
  return code.length
}

/** FNV-1a. Callers who choose codes with equal hashes only search one bucket, which they cannot make longer. */
function hashOf(bytes: Buffer, from: number, length: number): number {
  let hash = 0x811c9dc5
  for (let at = from; at < from + length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash >>> 0
}

const codeLength = (records: Buffer, at: number) =>
  (records[at] as number) | ((records[at + 1] as number) << 8)
const priceLength = (records: Buffer, at: number) => (records[at + 2] as number) & 15
const recordLength = (records: Buffer, at: number) =>
  HEAD_BYTES + codeLength(records, at) + priceLength(records, at)

/** Whether the record has the code in `key`. Neighbours in a price list usually differ in their last characters. */
function hasKey(records: Buffer, record: number, length: number): boolean {
  if (codeLength(records, record) !== length) return false
  const from = record + HEAD_BYTES
  for (let at = length - 1; at >= 0; at--) if (records[from + at] !== key[at]) return false
  return true
}

function readRecord(records: Buffer, at: number): ItemRecord {
  const end = at + recordLength(records, at)
  const price = records.toString('latin1', end - priceLength(records, at), end)
  const category = records.readUIntLE(at + 3, 3)
  return {
    price: price === '' ? null : price,
    category: category === 0 ? null : category,
    flags: (records[at + 2] as number) >> 4,
  }
}

/** Where the values go that are read only to have them in the CPU's cache. */
const reads = new Uint8Array(2)

/**
 * Returns a function that looks up items by their codes; undefined: there is none with this code. Throws if a page is not
 * complete.
 */
export function itemFinder(pages: readonly Buffer[]) {
  const lastPage = pages.at(-1)
  if (!lastPage || !pages.every(isComplete)) throw new Error('the items are damaged')
  const buckets = (pages.length - 1) * BUCKETS_PER_PAGE + lastPage.readUInt32LE(0) / 4 - 1

  function bucketOf(code: string): Bucket {
    const bucket = hashOf(key, 0, setKey(code)) % buckets
    const page = pages[Math.floor(bucket / BUCKETS_PER_PAGE)] as Buffer
    const at = (bucket % BUCKETS_PER_PAGE) * 4
    return { page, from: page.readUInt32LE(at), end: page.readUInt32LE(at + 4) }
  }

  function scan(code: string, { page, from, end }: Bucket): ItemRecord | undefined {
    const length = setKey(code)
    for (let at = from; at < end; at += recordLength(page, at))
      if (hasKey(page, at, length)) return readRecord(page, at)
    return undefined
  }

  return (codes: readonly string[]): (ItemRecord | undefined)[] => {
    const found = codes.map(bucketOf)
    // The memory of a large price list is slow, but answers several reads at once: touch all buckets before the first scan.
    for (const { page, from, end } of found) {
      reads[0] = page[from] as number
      reads[1] = page[end - 1] as number
    }
    return codes.map((code, index) => scan(code, found[index] as Bucket))
  }
}

interface Bucket {
  page: Buffer
  from: number
  end: number
}

/** Whether a page ends where its last bucket does. */
function isComplete(page: Buffer): boolean {
  return page.length >= 8 && page.readUInt32LE(page.readUInt32LE(0) - 4) === page.length
}

interface IndexState {
  records: Buffer
  /** How many bytes of the records are in use. */
  used: number
  count: number
  /** Offsets of records. */
  removed: Set<number>
  /** Offset of a record plus 1, or 0; at most half of them are in use. */
  slots: Uint32Array
}

/** Collects items for `itemFinder`, in a hash table of offsets into the records. */
export function createItemIndex() {
  const state: IndexState = {
    records: Buffer.alloc(1 << 16),
    used: 0,
    count: 0,
    removed: new Set(),
    slots: new Uint32Array(1 << 12),
  }
  return {
    /** Adds an item, unless there is one with this code. Returns whether it was added. */
    add: (code: string, item: ItemRecord) => addItem(state, code, item),
    /** The price of an item; undefined if there is no such item. */
    priceOf(code: string): string | null | undefined {
      const record = recordOf(state, code)
      return record < 0 ? undefined : readRecord(state.records, record).price
    },
    /** Adds a flag to an item. Returns false if there is no such item. */
    flag(code: string, flag: number): boolean {
      const record = recordOf(state, code)
      if (record < 0) return false
      state.records.writeUInt8((state.records[record + 2] as number) | (flag << 4), record + 2)
      return true
    },
    /** Removes an item, whose code cannot be added again. */
    remove(code: string): void {
      state.removed.add(recordOf(state, code))
    },
    /** The items in pages, as for `itemFinder`. */
    pages: (): Buffer[] => intoPages(state.records.subarray(0, state.used), state.count, state.removed),
  }
}

function addItem(state: IndexState, code: string, { price, category, flags }: ItemRecord): boolean {
  grow(state)
  const length = setKey(code)
  if (length === 0) throw new RangeError('an item has an invalid code')
  const slot = slotOfKey(state, length)
  const { records, used, slots } = state
  if (slots[slot]) return false
  const text = price ?? ''
  slots[slot] = used + 1
  records.writeUInt16LE(length, used)
  records.writeUInt8((flags << 4) | text.length, used + 2)
  records.writeUIntLE(category ?? 0, used + 3, 3)
  key.copy(records, used + HEAD_BYTES, 0, length)
  records.write(text, used + HEAD_BYTES + length, 'latin1')
  state.used += recordLength(records, used)
  state.count++
  return true
}

/** The slot of the code in `key`, or the empty one where it belongs. */
function slotOfKey({ records, slots }: IndexState, length: number): number {
  let slot = hashOf(key, 0, length) & (slots.length - 1)
  for (let next = slots[slot]; next; next = slots[slot]) {
    if (hasKey(records, next - 1, length)) break
    slot = (slot + 1) & (slots.length - 1)
  }
  return slot
}

/** The offset of an item's record, or -1. */
function recordOf(state: IndexState, code: string): number {
  const record = (state.slots[slotOfKey(state, setKey(code))] ?? 0) - 1
  return state.removed.has(record) ? -1 : record
}

function grow(state: IndexState): void {
  if (state.used + MAX_RECORD_BYTES > state.records.length)
    state.records = Buffer.concat([state.records], Math.ceil(state.records.length * 1.5))
  if (2 * state.count < state.slots.length) return
  const slots = new Uint32Array(state.slots.length * 2)
  for (let at = 0; at < state.used; at += recordLength(state.records, at)) {
    const length = codeLength(state.records, at)
    let slot = hashOf(state.records, at + HEAD_BYTES, length) & (slots.length - 1)
    while (slots[slot]) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = at + 1
  }
  state.slots = slots
}

export type ItemIndex = ReturnType<typeof createItemIndex>

function intoPages(records: Buffer, count: number, removed: ReadonlySet<number>): Buffer[] {
  const buckets = Math.max(1, Math.ceil(count / ITEMS_PER_BUCKET))
  /** Calls `handle` with the offset, length and bucket of each record. */
  const each = (handle: (at: number, length: number, bucket: number) => void) => {
    for (let at = 0, length = 0; at < records.length; at += length) {
      length = recordLength(records, at)
      if (!removed.has(at))
        handle(at, length, hashOf(records, at + HEAD_BYTES, codeLength(records, at)) % buckets)
    }
  }
  const sizes = new Uint32Array(buckets)
  each((_, length, bucket) => {
    sizes[bucket] = (sizes[bucket] as number) + length
  })
  const pages: Buffer[] = []
  /** Where in its page the next record of a bucket goes. */
  const nexts = new Uint32Array(buckets)
  for (let first = 0; first < buckets; first += BUCKETS_PER_PAGE) {
    const ofPage = sizes.subarray(first, first + BUCKETS_PER_PAGE)
    let end = 4 * (ofPage.length + 1)
    const page = Buffer.alloc(ofPage.reduce((sum, size) => sum + size, end))
    for (const [index, size] of ofPage.entries()) {
      page.writeUInt32LE(end, 4 * index)
      nexts[first + index] = end
      end += size
    }
    page.writeUInt32LE(end, 4 * ofPage.length)
    pages.push(page)
  }
  each((at, length, bucket) => {
    const page = pages[Math.floor(bucket / BUCKETS_PER_PAGE)] as Buffer
    const next = nexts[bucket] as number
    nexts[bucket] = next + records.copy(page, next, at, at + length)
  })
  return pages
}
