/** Several processes on one store, whose operations may fail, with the sandbox over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { resumed, stopped } from '../../../../../src/features/supplier/catalogue-files/import.ts'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import userData from '../../../../../src/features/supplier/catalogue-files/user-data.ts'
import { createFaultyStore, forEachFault } from '../../../../support/faulty-store.ts'
import { freezable, newCatalogue, openProcess, openWorld, type World } from './service-support.ts'
import { fileOf, itemsIn, waitingFor } from './support.ts'

const ZOE = { userId: 'zoë', bxcontext: 'x' }

let world: World
let to: string
let faulty: ReturnType<typeof createFaultyStore>
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  await world.access.close()
  await world.platform.close()
})
beforeEach(async () => {
  await world.platform.fault('items', 'none')
  to = await newCatalogue(world)
  faulty = createFaultyStore()
  onTestFinished(() => faulty.store.close())
})

const open = (store = faulty.store, mine?: { id: string }) => openProcess(world, store, mine)
const sent = async () => (await itemsIn(world.platform.url, to)).size
const pricesOf = (items: number) =>
  Object.fromEntries(Array.from({ length: items }, (_, at) => [`c${at}`, at + 1]))
const uploads = async () => (await world.platform.statusesOf('items')).length

describe('an import', () => {
  test('whose process is frozen is taken over by another one, which sends everything; waking up, the first sends no further batch and changes no record', async () => {
    const paused = freezable(faulty.store)
    const [first, other] = [open(paused.store), open()]
    onTestFinished(paused.thaw)
    const { release } = world.platform.hold('/items')
    await first.start(await first.check(to, fileOf(3_000)))
    const work = first.sender.send(to)
    await vi.waitFor(async () => expect(await other.records.find(to)).toMatchObject({ run: 1 }))
    paused.freeze()
    release()
    other.works()
    expect(await other.over(to)).toMatchObject({ state: 'completed', sent: 3_000 })
    expect(await other.received(to)).toEqual(pricesOf(3_000))
    await other.start(await other.check(to, fileOf(3_000, 7)))
    await other.sender.send(to)
    await vi.waitFor(async () => expect(await other.records.find(to)).toMatchObject({ state: 'completed' }))
    const before = await uploads()
    paused.thaw()
    await work
    expect(await uploads()).toBe(before)
    expect(await other.records.find(to)).toMatchObject({ state: 'completed' })
    expect((await itemsIn(world.platform.url, to)).get('C0')).toMatchObject({ price: 7 })
    expect((await other.received(to)).c0).toBe(7)
  })

  test('that is stopped while no process sends it is not sent, and is sent whole when it is resumed', async () => {
    const process = open()
    const job = await process.start(await process.check(to, fileOf(1_500)))
    await process.records.change(job, stopped)
    await process.sender.send(to)
    expect(await sent()).toBe(0)
    process.works()
    await process.records.change(job, resumed)
    expect(await process.over(to)).toMatchObject({ state: 'completed' })
    expect(await sent()).toBe(1_500)
  })

  test('that is stopped in the middle counts what arrived, and the next file is compared with the last completed import', async () => {
    const process = open()
    process.works()
    await process.start(await process.check(to, 'code,price\nOLD,5\nC0,9\n'))
    await process.over(to)
    const { arrived, release } = world.platform.hold('/items')
    const job = await process.start(await process.check(to, fileOf(4_000)))
    await expect.poll(arrived).toBe(1)
    await process.records.change(job, stopped)
    release()
    await expect.poll(async () => (await process.records.find(to))?.sent).toBe(1_000)
    await process.sender.send(to)
    expect(await process.records.find(to)).toMatchObject({ state: 'stopped' })
    expect(await sent()).toBe(1_001)
    expect(await process.received(to)).toEqual({ old: 5, c0: 9 })
  })

  test('continues after a shutdown in the next process', async () => {
    const [first, next] = [open(), open()]
    await world.platform.fault('items', '429', undefined, 100)
    await first.start(await first.check(to, fileOf(3)))
    void first.sender.send(to)
    await vi.waitFor(async () => expect((await first.records.find(to))?.note).toBe(waitingFor('busy')))
    await first.sender.close()
    expect(await next.records.find(to)).toMatchObject({ state: 'running' })
    await world.platform.fault('items', 'none')
    next.works()
    expect(await next.over(to)).toMatchObject({ state: 'completed' })
  })

  test('whose items are gone says so, and sends nothing', async () => {
    const process = open()
    const job = await process.start(await process.check(to, fileOf(3)))
    for (const { key } of await faulty.store.ofOwner(job.id)) await faulty.store.delete(key)
    const before = await uploads()
    await process.sender.send(to)
    expect(await uploads()).toBe(before)
    expect(await process.over(to)).toMatchObject({
      state: 'failed',
      message: texts.errors.gone,
    })
  })

  test('that another file replaces leaves no items of its own in the store, if the catalogue has not received them', async () => {
    const process = open()
    const first = await process.check(to, fileOf(3))
    await process.check(to, fileOf(4))
    expect(await faulty.store.ofOwner(first.id)).toEqual([])
  })
})

test('an import of a command that was killed is ended by the app, which sends nothing of it', async () => {
  const dead = freezable(faulty.store)
  const mine = { id: '' }
  const [command, app] = [open(dead.store, mine), open()]
  onTestFinished(dead.thaw)
  const { arrived, release } = world.platform.hold('/items')
  const work = command.sender.begin(to, async () => {
    const job = await command.check(to, fileOf(3_000), null)
    mine.id = job.id
    await command.start(job)
  })
  await expect.poll(arrived).toBe(1)
  dead.freeze()
  release()
  app.works()
  expect(await app.over(to)).toMatchObject({ state: 'failed', run: 1, message: texts.failures.killed })
  expect(await sent()).toBe(1_000)
  dead.thaw()
  await work.catch(() => {})
})

test('a check that is refused because the previous file is being sent leaves no items in the store', async () => {
  const process = open()
  await process.start(await process.check(to, fileOf(3)))
  const added = vi.spyOn(faulty.store, 'set')
  await expect(process.check(to, fileOf(1_500))).rejects.toMatchObject({ status: 409 })
  const keys = added.mock.calls.map(([key]) => key)
  expect(keys).toHaveLength(2)
  for (const key of keys) expect(await faulty.store.get(key)).toBeNull()
})

describe('while the store fails,', () => {
  test('an import that is sent, again if that was refused, is completed, and the store keeps only its items, whatever operation has failed', () =>
    forEachFault(async (failing, moment) => {
      const { store, failOnce, heal, count } = createFaultyStore()
      const catalogueId = await newCatalogue(world)
      const process = open(store)
      const old = await process.start(await process.check(catalogueId, 'code,price\nOLD,5\n'))
      await process.sender.send(catalogueId)
      const job = await process.check(catalogueId, fileOf(2))
      failOnce(failing, moment)
      await process.start(job).catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
      await process.sender.send(catalogueId)
      const operations = count()
      heal()
      if ((await process.records.find(catalogueId))?.state === 'ready') await process.start(job)
      process.works()
      expect(await process.over(catalogueId)).toMatchObject({ state: 'completed', message: null })
      expect(await process.received(catalogueId)).toEqual(pricesOf(2))
      await expect.poll(() => store.ofOwner(old.id)).toEqual([])
      await store.close()
      return operations
    }))

  test('a check that cannot be stored can be repeated', async () => {
    const process = open()
    faulty.failFirst('set', 'catalogue-items')
    await expect(process.check(to, fileOf(2))).rejects.toMatchObject({ code: 'store_unavailable' })
    faulty.heal()
    expect(await process.check(to, fileOf(2))).toMatchObject({ state: 'ready' })
  })
})

const deleteZoe = (store = faulty.store) =>
  userData.deleteUser(
    { store, config: { platform: { apiUrl: world.platform.apiUrl } } } as never,
    {},
    ZOE.userId,
  )

test('the deletion of a user leaves a file that another user has sent since', async () => {
  const process = open()
  await process.check(to, fileOf(3), ZOE)
  const ofOwner = async (owner: string) => {
    const found = await faulty.store.ofOwner(owner)
    await process.start(await process.check(to, fileOf(2)))
    return found
  }
  await deleteZoe({ ...faulty.store, ofOwner })
  process.works()
  expect(await process.over(to)).toMatchObject({ state: 'completed', items: 2 })
})

test.each([
  ['an upload', (_id: string) => '/items'],
  ['a poll', (id: string) => `/import/${id}.1`],
])(
  'a user who is deleted while %s is on its way is named nowhere, and what was received stays',
  async (_name, held) => {
    const process = open()
    process.works()
    await process.start(await process.check(to, 'code,price\nOLD,5\n'))
    await process.over(to)
    const job = await process.check(to, fileOf(3_500), ZOE)
    const { arrived, release } = world.platform.hold(held(job.id))
    await process.start(job)
    const run = process.sender.send(to)
    await expect.poll(arrived, { timeout: 60_000 }).toBe(1)
    await deleteZoe()
    release()
    await run
    expect(await process.records.find(to)).toMatchObject({ state: 'stopped', by: null, fileName: '' })
    expect(await process.received(to)).toEqual({ old: 5 })
  },
)
