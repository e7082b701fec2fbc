import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GroupsPage, Key, KeyValueStore } from '../../src/connect/stores.ts'

export interface Subject {
  store: KeyValueStore
  close(): Promise<unknown>
}

/** The promises of every store. `skip`: whether the program of the store is missing, which `name` then mentions. */
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
    for (const [promise, check] of Object.entries(PROMISES))
      test(promise, () => check(subject.store, `owner-${++run}`))
  })
}

const keyOf = (owner: string, id = 'id'): Key => ({ kind: 'thing', owner, id })

/** Counts how often the event loop turns to other work. */
export function turns() {
  let count = 0
  let isOver = false
  const next = () => {
    count++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  return {
    end() {
      isOver = true
      return count
    },
  }
}

/** The tests by their names. Each gets an owner of whom no other test knows. */
const PROMISES: Record<string, (store: KeyValueStore, owner: string) => Promise<void>> = {
  async 'returns the value that was set, or null'(store, owner) {
    const key = keyOf(owner)
    expect(await store.get(key)).toBeNull()
    await store.set(key, 'one')
    await store.set(key, 'two')
    expect(await store.get(key)).toBe('two')
  },

  async 'delete removes a value and resolves to whether there was one'(store, owner) {
    const key = keyOf(owner)
    await store.set(key, 'one')
    expect(await store.delete(key)).toBe(true)
    expect(await store.delete(key)).toBe(false)
    expect(await store.get(key)).toBeNull()
  },

  async 'keeps keys distinct and values intact, whatever characters they contain'(store) {
    const odd = [...'ab:/{}% *?[\\\u0000é😀', 'a:b', '{a}', '%3A', 'e\u0301', 'x'.repeat(500)]
    const keys = odd.flatMap((owner) => odd.map((id) => ({ kind: 'odd', owner, id })))
    await Promise.all(keys.map((key) => store.set(key, JSON.stringify(key))))
    for (const key of keys) expect(await store.get(key)).toBe(JSON.stringify(key))
    const listed = await store.list('odd', '{a}')
    expect(listed.map(({ key }) => key.id).sort()).toEqual([...odd].sort())
  },

  async 'a key that is no text is an error of the caller, and not an outage of the store'(store, owner) {
    const broken: Key = Object.assign(keyOf(owner), { owner: undefined })
    await expect(store.get(broken)).rejects.toBeInstanceOf(TypeError)
    await expect(store.getCached(broken)).rejects.toBeInstanceOf(TypeError)
    await expect(store.set(broken, 'value')).rejects.toBeInstanceOf(TypeError)
    const half = keyOf(owner, '\ud800')
    await expect(store.get(half)).rejects.toBeInstanceOf(TypeError)
    await expect(store.compareAndSet(half, null, 'value')).rejects.toBeInstanceOf(TypeError)
    await expect(store.delete(half)).rejects.toBeInstanceOf(TypeError)
  },

  async 'answers a ping'(store) {
    await store.ping()
  },

  async 'a cached read sees each write of this process at once'(store, owner) {
    const key = keyOf(owner)
    expect(await store.getCached(key)).toBeNull()
    for (let round = 0; round < 100; round++) {
      await store.set(key, `set ${round}`)
      expect(await store.getCached(key)).toBe(`set ${round}`)
      const racing = store.getCached(key)
      await store.compareAndSet(key, `set ${round}`, `swapped ${round}`)
      await racing
      expect(await store.getCached(key)).toBe(`swapped ${round}`)
    }
    await store.delete(key)
    expect(await store.getCached(key)).toBeNull()
    await store.set(key, 'short', 40)
    await expect.poll(() => store.getCached(key)).toBeNull()
  },

  async 'compare-and-set writes only over exactly what was expected'(store, owner) {
    const key = keyOf(owner)
    expect(await store.compareAndSet(key, 'one', 'two')).toBe(false)
    expect(await store.compareAndSet(key, null, 'one')).toBe(true)
    expect(await store.compareAndSet(key, null, 'other')).toBe(false)
    expect(await store.compareAndSet(key, 'One', 'two')).toBe(false)
    expect(await store.compareAndSet(key, 'one', 'two')).toBe(true)
    expect(await store.get(key)).toBe('two')
    expect(await store.compareAndSet(key, 'one', null)).toBe(false)
    expect(await store.compareAndSet(key, 'two', null)).toBe(true)
    expect(await store.get(key)).toBeNull()
    expect(await store.compareAndSet(key, null, null)).toBe(true)
  },

  async 'compare-and-set can keep how long a value lives'(store, owner) {
    const [permanent, expiring, created] = ['permanent', 'expiring', 'created'].map((id) => keyOf(owner, id))
    if (!permanent || !expiring || !created) throw new Error('three keys')
    await store.set(permanent, 'one')
    await store.set(expiring, 'one', 200)
    for (const key of [permanent, expiring])
      expect(await store.compareAndSet(key, 'one', 'two', 'kept')).toBe(true)
    expect(await store.compareAndSet(created, null, 'two', 'kept')).toBe(true)
    expect(await store.compareAndSet(permanent, 'one', 'three', 'kept')).toBe(false)
    const listed = await store.list('thing', owner)
    expect(listed.map(({ key }) => key.id).sort()).toEqual(['created', 'permanent'])
    await expect.poll(() => store.get(expiring)).toBeNull()
    expect(await store.get(permanent)).toBe('two')
  },

  async 'of many concurrent compare-and-sets, one wins'(store, owner) {
    const key = keyOf(owner)
    const writes = Array.from({ length: 50 }, (_, i) => store.compareAndSet(key, null, `w${i}`))
    const wins = await Promise.all(writes)
    expect(wins.filter(Boolean)).toHaveLength(1)
    expect(await store.get(key)).toBe(`w${wins.indexOf(true)}`)
  },

  async 'a value with a ttl expires and then counts as absent'(store, owner) {
    const [key, lasting] = [keyOf(owner), keyOf(owner, 'lasting')]
    await store.set(key, 'short', 40)
    await store.set(lasting, 'long', 60_000)
    expect(await store.get(lasting)).toBe('long')
    await expect.poll(() => store.get(key)).toBeNull()
    expect(await store.compareAndSet(key, 'short', 'x')).toBe(false)
    expect(await store.delete(key)).toBe(false)
    expect(await store.compareAndSet(key, null, 'next', 40)).toBe(true)
    await expect.poll(() => store.get(key)).toBeNull()
    await store.set(key, 'late', 0)
    await expect.poll(() => store.get(key)).toBeNull()
  },

  async 'a write without a ttl makes an expiring value permanent, and one with a ttl makes a permanent value expire'(
    store,
    owner,
  ) {
    const [permanent, expiring] = [keyOf(owner, 'permanent'), keyOf(owner, 'expiring')]
    await store.set(permanent, 'a', 40)
    await store.set(permanent, 'b')
    await store.set(expiring, 'a')
    await store.compareAndSet(expiring, 'a', 'b', 40)
    await expect.poll(() => store.get(expiring)).toBeNull()
    expect(await store.get(permanent)).toBe('b')
  },

  async 'lists the permanent values of one kind and owner'(store, owner) {
    for (const id of ['b', 'a', 'c', 'gone', 'swapped']) await store.set(keyOf(owner, id), `value ${id}`)
    await store.set(keyOf(owner, 'temporary'), 'x', 60_000)
    await store.set({ ...keyOf(owner, 'a'), kind: 'other' }, 'x')
    await store.set(keyOf(`${owner}2`, 'a'), 'x')
    await store.delete(keyOf(owner, 'gone'))
    await store.compareAndSet(keyOf(owner, 'swapped'), 'value swapped', null)
    const listed = await store.list('thing', owner)
    expect(listed.sort((a, b) => a.value.localeCompare(b.value))).toEqual(
      ['a', 'b', 'c'].map((id) => ({ key: keyOf(owner, id), value: `value ${id}` })),
    )
    expect(await store.list('thing', 'nobody')).toEqual([])
  },

  async 'reads permanent values page by page, those with the highest place first'(store, owner) {
    const page = async (skip: number, top: number) => {
      const { entries, total } = await store.page('thing', owner, { skip, top })
      return [total, ...entries.map(({ key, value }) => `${key.id}=${value}`)]
    }
    expect(await page(0, 10)).toEqual([0])
    for (const [id, place] of Object.entries({ low: 2, high: 1e14, none: 0, gone: 5, expiring: 6 }))
      await store.compareAndSet(keyOf(owner, id), null, '1', { place })
    await store.set(keyOf(owner, 'temporary'), '1', 60_000)
    await store.set({ ...keyOf(owner, 'another kind'), kind: 'other' }, '1')
    expect(await page(0, 10)).toEqual([5, 'high=1', 'expiring=1', 'gone=1', 'low=1', 'none=1'])
    await store.delete(keyOf(owner, 'gone'))
    await store.compareAndSet(keyOf(owner, 'expiring'), '1', '2', 60_000)
    await store.compareAndSet(keyOf(owner, 'high'), '1', '2', 'kept')
    await store.compareAndSet(keyOf(owner, 'low'), '1', '2', { place: 1e14 + 1 })
    await store.compareAndSet(keyOf(owner, 'temporary'), '1', '2', { place: 4 })
    expect(await page(0, 10)).toEqual([4, 'low=2', 'high=2', 'temporary=2', 'none=1'])
    expect(await page(0, 1)).toEqual([4, 'low=2'])
    expect(await page(1, 2)).toEqual([4, 'high=2', 'temporary=2'])
    expect(await page(3, 2)).toEqual([4, 'none=1'])
    expect(await page(4, 2)).toEqual([4])
    expect(await page(0, 0)).toEqual([4])
  },

  async 'lists thousands of values of an owner, and lets other requests get their turn'(store, owner) {
    const ids = Array.from({ length: 1_100 }, (_, i) => `${i}`)
    for (let at = 0; at < ids.length; at += 100)
      await Promise.all(ids.slice(at, at + 100).map((id) => store.set(keyOf(owner, id), `value ${id}`)))
    const others = turns()
    const listed = await store.list('thing', owner)
    expect(others.end()).toBeGreaterThan(2)
    expect(listed.map(({ key, value }) => [key.id, value]).sort()).toEqual(
      ids.map((id) => [id, `value ${id}`]).sort(),
    )
  },

  async 'reads the groups of a kind page by page; a cursor continues in another process'(store) {
    const owners: string[] = []
    // Writes a hundred entries at a time, because a busy machine would exceed the time limit of a write with a thousand.
    while (owners.length < 1100) {
      const next = Array.from({ length: 100 }, (_, i) => `owner ${owners.length + i}`)
      await Promise.all(next.map((owner) => store.set({ kind: 'paged', owner, id: 'a' }, 'x')))
      owners.push(...next)
    }
    await store.set({ kind: 'paged', owner: 'expires', id: 'a' }, 'x', 60_000)
    await store.set({ kind: 'paged-other', owner: 'other', id: 'a' }, 'x')
    const first = await store.groups('paged', null)
    const found = new Set(first.groups.map(({ owner }) => owner))
    let pages = 1
    for (let { cursor } = first; cursor !== null; pages++) {
      const page = await store.groups('paged', cursor)
      for (const { owner } of page.groups) found.add(owner)
      cursor = page.cursor
    }
    expect([...found].sort()).toEqual(owners.sort())
    expect(pages).toBeGreaterThan(1)
  },

  async 'reads the groups of every kind page by page, without those that expire'(store, owner) {
    const owners = Array.from({ length: 300 }, (_, i) => `${owner} é%{} ${i}`)
    const kinds = ['every', 'every-other']
    const groups = kinds.flatMap((kind) => owners.map((one) => ({ kind, owner: one })))
    await Promise.all(groups.map((group) => store.set({ ...group, id: 'a' }, 'x')))
    await store.set({ kind: 'expiring', owner, id: 'a' }, 'x', 60_000)
    const found = new Set<string>()
    let cursor: string | null = null
    do {
      const page: GroupsPage = await store.groups(null, cursor)
      for (const group of page.groups)
        if (group.owner.startsWith(owner)) found.add(`${group.kind} ${group.owner}`)
      cursor = page.cursor
    } while (cursor !== null)
    expect([...found].sort()).toEqual(groups.map(({ kind, owner: one }) => `${kind} ${one}`).sort())
  },

  async 'finds every value of an owner, expiring ones too, and none of another one'(store) {
    const owner = "iss*|o'brien (a)"
    await store.set({ kind: 'one', owner, id: 'x' }, '1')
    await store.set({ kind: 'two', owner, id: '' }, '2', 60_000)
    await store.set({ kind: 'one', owner: "iss-other|o'brien (a)", id: 'x' }, '3')
    const found = await store.ofOwner(owner)
    expect(found.map(({ key: { kind }, value }) => [kind, value]).sort()).toEqual([
      ['one', '1'],
      ['two', '2'],
    ])
    expect(await store.ofOwner('iss')).toEqual([])
  },
}
