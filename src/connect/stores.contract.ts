import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Key, type KeyValueStore, keyName, type OwnersPage, scan } from './store/store.ts'

export interface Subject {
  store: KeyValueStore
  close(): Promise<unknown>
}

/** The store that is tested, and keys of which no other test knows. */
interface Tested {
  readonly store: KeyValueStore
  key(id?: string, owner?: string): Key
  fresh(): Key
  /** A number that no other test has. */
  next(): number
}

/** What every store promises. `skip`: whether the program that it runs on is missing; then `name` says so. */
export function describeStoreContract(
  name: string,
  open: () => Promise<Subject>,
  { skip = false } = {},
): void {
  describe(`the store on ${name}`, () => {
    if (skip) return test.skip('has no server to run on')
    let subject: Subject
    let run = 0
    beforeAll(async () => {
      subject = await open()
    })
    afterAll(() => subject?.close())

    const key = (id = 'id', owner = `owner-${run}`): Key => ({ kind: 'thing', owner, id })
    const next = () => ++run
    const fresh = () => key(`id-${next()}`)
    const tested: Tested = {
      get store() {
        return subject.store
      },
      key,
      fresh,
      next,
    }
    testValues(tested)
    testCachedReads(tested)
    testCompareAndSet(tested)
    testExpiry(tested)
    testLists(tested)
    testOwners(tested)
  })
}

function testValues(tested: Tested): void {
  test('returns the value that was set, or null', async () => {
    const entry = tested.fresh()
    expect(await tested.store.get(entry)).toBeNull()
    await tested.store.set(entry, 'one')
    await tested.store.set(entry, 'two')
    expect(await tested.store.get(entry)).toBe('two')
  })

  test('delete removes a value and resolves to whether there was one', async () => {
    const entry = tested.fresh()
    await tested.store.set(entry, 'one')
    expect(await tested.store.delete(entry)).toBe(true)
    expect(await tested.store.delete(entry)).toBe(false)
    expect(await tested.store.get(entry)).toBeNull()
  })

  test('keeps keys distinct and values intact, whatever characters they contain', async () => {
    const odd = [
      'a:b',
      'a',
      'b',
      ':',
      '/',
      '{',
      '}',
      '{a}',
      '%',
      '%3A',
      ' ',
      '*',
      '?',
      '[',
      '\\',
      '\u0000',
      'é',
      'e\u0301',
      '😀',
      'x'.repeat(500),
    ]
    const pairs = odd.flatMap((owner) => odd.map((id) => ({ kind: 'odd', owner, id })))
    await Promise.all(pairs.map((entry) => tested.store.set(entry, JSON.stringify(entry))))
    for (const entry of pairs) expect(await tested.store.get(entry)).toBe(JSON.stringify(entry))
    expect((await tested.store.list('odd', '{a}')).map(({ key: { id } }) => id).sort()).toEqual(
      [...odd].sort(),
    )
  })

  test('a key that is no text is an error of the caller, and not an outage of the store', async () => {
    const broken: Key = Object.assign(tested.fresh(), { owner: undefined })
    await expect(tested.store.get(broken)).rejects.toBeInstanceOf(TypeError)
    await expect(tested.store.set(broken, 'value')).rejects.toBeInstanceOf(TypeError)
  })

  test('answers a ping', async () => {
    await tested.store.ping()
  })
}

function testCachedReads(tested: Tested): void {
  test('a cached read sees each write of this process at once', async () => {
    const entry = tested.fresh()
    expect(await tested.store.getCached(entry)).toBeNull()
    for (let round = 0; round < 100; round++) {
      await tested.store.set(entry, `set ${round}`)
      expect(await tested.store.getCached(entry)).toBe(`set ${round}`)
      const racing = tested.store.getCached(entry)
      await tested.store.compareAndSet(entry, `set ${round}`, `swapped ${round}`)
      await racing
      expect(await tested.store.getCached(entry)).toBe(`swapped ${round}`)
    }
    await tested.store.delete(entry)
    expect(await tested.store.getCached(entry)).toBeNull()
    await tested.store.set(entry, 'short', 40)
    await expect.poll(() => tested.store.getCached(entry)).toBeNull()
  })
}

function testCompareAndSet(tested: Tested): void {
  test('compare-and-set writes only over exactly what was expected', async () => {
    const entry = tested.fresh()
    expect(await tested.store.compareAndSet(entry, 'one', 'two')).toBe(false)
    expect(await tested.store.compareAndSet(entry, null, 'one')).toBe(true)
    expect(await tested.store.compareAndSet(entry, null, 'other')).toBe(false)
    expect(await tested.store.compareAndSet(entry, 'One', 'two')).toBe(false)
    expect(await tested.store.compareAndSet(entry, 'one', 'two')).toBe(true)
    expect(await tested.store.get(entry)).toBe('two')
    expect(await tested.store.compareAndSet(entry, 'one', null)).toBe(false)
    expect(await tested.store.compareAndSet(entry, 'two', null)).toBe(true)
    expect(await tested.store.get(entry)).toBeNull()
    expect(await tested.store.compareAndSet(entry, null, null)).toBe(true)
  })

  test('of many concurrent compare-and-sets, one wins', async () => {
    const entry = tested.fresh()
    const wins = await Promise.all(
      Array.from({ length: 50 }, (_, i) => tested.store.compareAndSet(entry, null, `w${i}`)),
    )
    expect(wins.filter(Boolean)).toHaveLength(1)
    expect(await tested.store.get(entry)).toBe(`w${wins.indexOf(true)}`)
  })
}

function testExpiry(tested: Tested): void {
  test('a value with a ttl expires and then counts as absent', async () => {
    const [entry, lasting] = [tested.fresh(), tested.fresh()]
    await tested.store.set(entry, 'short', 40)
    await tested.store.set(lasting, 'long', 60_000)
    expect(await tested.store.get(lasting)).toBe('long')
    await expect.poll(() => tested.store.get(entry)).toBeNull()
    expect(await tested.store.compareAndSet(entry, 'short', 'x')).toBe(false)
    expect(await tested.store.delete(entry)).toBe(false)
    expect(await tested.store.compareAndSet(entry, null, 'next', 40)).toBe(true)
    await expect.poll(() => tested.store.get(entry)).toBeNull()
  })

  test('a value whose ttl has run out already is soon absent', async () => {
    const entry = tested.fresh()
    await tested.store.set(entry, 'late', 0)
    await expect.poll(() => tested.store.get(entry)).toBeNull()
  })

  test('a write without a ttl makes an expiring value permanent, and one with a ttl makes a permanent value expire', async () => {
    const [permanent, expiring] = [tested.fresh(), tested.fresh()]
    await tested.store.set(permanent, 'a', 40)
    await tested.store.set(permanent, 'b')
    await tested.store.set(expiring, 'a')
    await tested.store.compareAndSet(expiring, 'a', 'b', 40)
    await expect.poll(() => tested.store.get(expiring)).toBeNull()
    expect(await tested.store.get(permanent)).toBe('b')
  })
}

function testLists(tested: Tested): void {
  test('lists the permanent values of one kind and owner', async () => {
    const owner = `lister-${tested.next()}`
    for (const id of ['b', 'a', 'c', 'gone', 'swapped'])
      await tested.store.set(tested.key(id, owner), `value ${id}`)
    await tested.store.set(tested.key('temporary', owner), 'x', 60_000)
    await tested.store.set({ ...tested.key('a', owner), kind: 'other' }, 'x')
    await tested.store.set(tested.key('a', `${owner}2`), 'x')
    await tested.store.delete(tested.key('gone', owner))
    await tested.store.compareAndSet(tested.key('swapped', owner), 'value swapped', null)
    const listed = await tested.store.list('thing', owner)
    expect(listed.sort((a, b) => a.value.localeCompare(b.value))).toEqual(
      ['a', 'b', 'c'].map((id) => ({ key: tested.key(id, owner), value: `value ${id}` })),
    )
    expect(await tested.store.list('thing', 'nobody')).toEqual([])
  })

  test('scans every permanent value of a kind, of all owners', async () => {
    const kind = `scan-${String.fromCharCode(97 + (tested.next() % 26))}`
    const keys = Array.from({ length: 1200 }, (_, i) => ({ kind, owner: `o${i % 40}`, id: `i${i}` }))
    await Promise.all(keys.map((entry) => tested.store.set(entry, entry.id)))
    await tested.store.set({ kind, owner: 'o', id: 'short' }, 'x', 60_000)
    const found = new Set<string>()
    for await (const { key: entry, value } of scan(tested.store, kind)) {
      expect(value).toBe(entry.id)
      found.add(keyName(entry))
    }
    expect(found.size).toBe(1200)
  })
}

function testOwners(tested: Tested): void {
  test('reads the owners of a kind page by page; a cursor continues in another process', async () => {
    const owners = Array.from({ length: 1100 }, (_, i) => `owner ${i}`)
    await Promise.all(owners.map((owner) => tested.store.set({ kind: 'paged', owner, id: 'a' }, 'x')))
    await tested.store.set({ kind: 'paged', owner: 'expires', id: 'a' }, 'x', 60_000)
    await tested.store.set({ kind: 'paged-other', owner: 'other', id: 'a' }, 'x')
    const found = new Set<string>()
    let pages = 0
    let cursor: string | null = null
    do {
      const page: OwnersPage = await tested.store.owners('paged', cursor)
      for (const owner of page.owners) found.add(owner)
      cursor = page.cursor
      pages++
    } while (cursor !== null)
    expect([...found].sort()).toEqual(owners.sort())
    expect(pages).toBeGreaterThan(1)
  })

  test('finds every value of an owner, expiring ones too, and none of another one', async () => {
    const owner = "iss*|o'brien (a)"
    await tested.store.set({ kind: 'one', owner, id: 'x' }, '1')
    await tested.store.set({ kind: 'two', owner, id: '' }, '2', 60_000)
    await tested.store.set({ kind: 'one', owner: "iss-other|o'brien (a)", id: 'x' }, '3')
    const found = await tested.store.ofOwner(owner)
    expect(found.map(({ key: { kind }, value }) => [kind, value]).sort()).toEqual([
      ['one', '1'],
      ['two', '2'],
    ])
    expect(await tested.store.ofOwner('iss')).toEqual([])
  })
}
