import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Key, type KeyValueStore, keyName, type OwnersPage, scan } from './store/store.ts'

export interface Subject {
  store: KeyValueStore
  close(): Promise<unknown>
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
    let store: KeyValueStore
    let run = 0
    beforeAll(async () => {
      subject = await open()
      store = subject.store
    })
    afterAll(() => subject?.close())

    const key = (id = 'id', owner = `owner-${run}`): Key => ({ kind: 'thing', owner, id })
    const fresh = () => key(`id-${++run}`)

    test('returns the value that was set, or null', async () => {
      const entry = fresh()
      expect(await store.get(entry)).toBeNull()
      await store.set(entry, 'one')
      await store.set(entry, 'two')
      expect(await store.get(entry)).toBe('two')
    })

    test('a cached read sees each write of this process at once', async () => {
      const entry = fresh()
      expect(await store.getCached(entry)).toBeNull()
      for (let round = 0; round < 100; round++) {
        await store.set(entry, `set ${round}`)
        expect(await store.getCached(entry)).toBe(`set ${round}`)
        const racing = store.getCached(entry)
        await store.compareAndSet(entry, `set ${round}`, `swapped ${round}`)
        await racing
        expect(await store.getCached(entry)).toBe(`swapped ${round}`)
      }
      await store.delete(entry)
      expect(await store.getCached(entry)).toBeNull()
      await store.set(entry, 'short', 40)
      await expect.poll(() => store.getCached(entry)).toBeNull()
    })

    test('delete removes a value and resolves to whether there was one', async () => {
      const entry = fresh()
      await store.set(entry, 'one')
      expect(await store.delete(entry)).toBe(true)
      expect(await store.delete(entry)).toBe(false)
      expect(await store.get(entry)).toBeNull()
    })

    test('compare-and-set writes only over exactly what was expected', async () => {
      const entry = fresh()
      expect(await store.compareAndSet(entry, 'one', 'two')).toBe(false)
      expect(await store.compareAndSet(entry, null, 'one')).toBe(true)
      expect(await store.compareAndSet(entry, null, 'other')).toBe(false)
      expect(await store.compareAndSet(entry, 'One', 'two')).toBe(false)
      expect(await store.compareAndSet(entry, 'one', 'two')).toBe(true)
      expect(await store.get(entry)).toBe('two')
      expect(await store.compareAndSet(entry, 'one', null)).toBe(false)
      expect(await store.compareAndSet(entry, 'two', null)).toBe(true)
      expect(await store.get(entry)).toBeNull()
      expect(await store.compareAndSet(entry, null, null)).toBe(true)
    })

    test('of many concurrent compare-and-sets, one wins', async () => {
      const entry = fresh()
      const wins = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.compareAndSet(entry, null, `w${i}`)),
      )
      expect(wins.filter(Boolean)).toHaveLength(1)
      expect(await store.get(entry)).toBe(`w${wins.indexOf(true)}`)
    })

    test('a value with a ttl expires and then counts as absent', async () => {
      const [entry, lasting] = [fresh(), fresh()]
      await store.set(entry, 'short', 40)
      await store.set(lasting, 'long', 60_000)
      expect(await store.get(lasting)).toBe('long')
      await expect.poll(() => store.get(entry)).toBeNull()
      expect(await store.compareAndSet(entry, 'short', 'x')).toBe(false)
      expect(await store.delete(entry)).toBe(false)
      expect(await store.compareAndSet(entry, null, 'next', 40)).toBe(true)
      await expect.poll(() => store.get(entry)).toBeNull()
    })

    test('a write without a ttl makes an expiring value permanent, and one with a ttl makes a permanent value expire', async () => {
      const [permanent, expiring] = [fresh(), fresh()]
      await store.set(permanent, 'a', 40)
      await store.set(permanent, 'b')
      await store.set(expiring, 'a')
      await store.compareAndSet(expiring, 'a', 'b', 40)
      await expect.poll(() => store.get(expiring)).toBeNull()
      expect(await store.get(permanent)).toBe('b')
    })

    test('lists the permanent values of one kind and owner', async () => {
      const owner = `lister-${++run}`
      for (const id of ['b', 'a', 'c', 'gone', 'swapped']) await store.set(key(id, owner), `value ${id}`)
      await store.set(key('temporary', owner), 'x', 60_000)
      await store.set({ ...key('a', owner), kind: 'other' }, 'x')
      await store.set(key('a', `${owner}2`), 'x')
      await store.delete(key('gone', owner))
      await store.compareAndSet(key('swapped', owner), 'value swapped', null)
      const listed = await store.list('thing', owner)
      expect(listed.sort((a, b) => a.value.localeCompare(b.value))).toEqual(
        ['a', 'b', 'c'].map((id) => ({ key: key(id, owner), value: `value ${id}` })),
      )
      expect(await store.list('thing', 'nobody')).toEqual([])
    })

    test('scans every permanent value of a kind, of all owners', async () => {
      const kind = `scan-${String.fromCharCode(97 + (run++ % 26))}`
      const keys = Array.from({ length: 1200 }, (_, i) => ({ kind, owner: `o${i % 40}`, id: `i${i}` }))
      await Promise.all(keys.map((entry) => store.set(entry, entry.id)))
      await store.set({ kind, owner: 'o', id: 'short' }, 'x', 60_000)
      const found = new Set<string>()
      for await (const { key: entry, value } of scan(store, kind)) {
        expect(value).toBe(entry.id)
        found.add(keyName(entry))
      }
      expect(found.size).toBe(1200)
    })

    test('reads the owners of a kind page by page; a cursor continues in another process', async () => {
      const owners = Array.from({ length: 1100 }, (_, i) => `owner ${i}`)
      await Promise.all(owners.map((owner) => store.set({ kind: 'paged', owner, id: 'a' }, 'x')))
      await store.set({ kind: 'paged', owner: 'expires', id: 'a' }, 'x', 60_000)
      await store.set({ kind: 'paged-other', owner: 'other', id: 'a' }, 'x')
      const found = new Set<string>()
      let pages = 0
      for (const partition of await store.partitions()) {
        let cursor: string | null = null
        do {
          const page: OwnersPage = await store.owners('paged', partition, cursor)
          for (const owner of page.owners) found.add(owner)
          cursor = page.cursor === null ? null : String(page.cursor)
          pages++
        } while (cursor !== null)
      }
      expect([...found].sort()).toEqual(owners.sort())
      expect(pages).toBeGreaterThan(1)
    })

    test('finds every value of an owner, expiring ones too, and none of another one', async () => {
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
      await Promise.all(pairs.map((entry) => store.set(entry, JSON.stringify(entry))))
      for (const entry of pairs) expect(await store.get(entry)).toBe(JSON.stringify(entry))
      expect((await store.list('odd', '{a}')).map(({ key: { id } }) => id).sort()).toEqual([...odd].sort())
    })

    test('answers a ping', async () => {
      await store.ping()
    })
  })
}
