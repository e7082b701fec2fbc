/**
 * Tabs, users, processes and commands act at the same time, in any order. Only a comparison that a user has seen is sent, and only
 * a single file at a time.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqlite } from '../../../../../src/connect/stores.ts'
import { compare } from '../../../../../src/features/supplier/catalogue-files/difference.ts'
import type { Import } from '../../../../../src/features/supplier/catalogue-files/import.ts'
import { newCatalogue, openProcess, openWorld, type World } from './service-support.ts'
import { itemsIn } from './support.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  await world.access.close()
  await world.platform.close()
})

type Prices = Record<string, number>
const prices = fc.dictionary(fc.constantFrom('A', 'B', 'C'), fc.integer({ min: 1, max: 9 }), { minKeys: 1 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('check' as const), who: fc.constantFrom('sam', 'alex'), prices }),
  fc.record({ kind: fc.constant('send' as const), tab: fc.nat(2) }),
  fc.record({ kind: fc.constant('command' as const), prices }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
/** The actions that happen at the same time, each in a separate process. */
const moments = fc.array(fc.array(step, { minLength: 1, maxLength: 2 }), { minLength: 3, maxLength: 10 })

const fileOf = (of: Prices) =>
  `code,price\n${Object.entries(of)
    .map((line) => `${line.join()}\n`)
    .join('')}`

/** A page that a user sees and doesn't reload: its comparison, and the prices of the catalogue after sending it. */
interface Tab {
  job: Import
  code: string
  before: Prices
  prices: Prices
}

async function openCatalogue() {
  const store = openSqlite({ file: ':memory:' })
  const to = await newCatalogue(world)
  const tabs: Tab[] = []
  /** The sent files in order, each with the comparison that the user saw. */
  const sends: Tab[] = []
  const mine = { id: '' }
  const processes = [openProcess(world, store), openProcess(world, store, mine)] as const

  async function look(job: Import, of: Prices): Promise<Tab> {
    const { records, received } = processes[0]
    const file = Object.entries(of).map(([code, price]) => ({ code, price }))
    const items = await records.received(await records.find(to))
    const { code } = await compare(file, items)
    return { job, code, prices: of, before: items ? await received(to) : {} }
  }
  async function run(one: Step, { records, sender, check }: (typeof processes)[number]) {
    if (one.kind === 'check') {
      const job = await check(to, fileOf(one.prices), { userId: one.who, bxcontext: 'x' })
      tabs.unshift(await look(job, one.prices))
    } else if (one.kind === 'send') {
      const tab = tabs[one.tab]
      const now = await records.find(to)
      if (!tab || now?.by?.userId !== tab.job.by?.userId || !now) return
      await records.start(now, tab.code, true)
      // Two processes may send it at the same time, but the platform gets it once.
      if (sends.at(-1)?.job.id !== tab.job.id) sends.push(tab)
      await sender.send(to)
    } else
      await processes[1].sender.begin(to, async () => {
        const job = await check(to, fileOf(one.prices), null)
        mine.id = job.id
        const tab = await look(job, one.prices)
        await records.start(job, tab.code, true)
        sends.push(tab)
      })
  }
  return { store, to, processes, sends, run }
}

test('the catalogue ends with what was sent last, and everybody who sent had seen what it had received until then', () =>
  fc.assert(
    fc.asyncProperty(moments, async (all) => {
      const { store, to, processes, sends, run } = await openCatalogue()
      for (const steps of all) {
        const results = await Promise.allSettled(
          steps.map((one, at) => run(one, processes[at === 0 ? 0 : 1])),
        )
        for (const result of results)
          if (result.status === 'rejected')
            expect(result.reason).toMatchObject({ status: expect.toBeOneOf([400, 404, 409]) })
        for (const { sender } of processes) await sender.send(to)
      }
      const kept: Prices = {}
      for (const [at, { before, prices }] of sends.entries()) {
        expect(before).toEqual(lower(sends[at - 1]?.prices ?? {}))
        Object.assign(kept, prices)
      }
      const found = [...(await itemsIn(world.platform.url, to))].map(([code, item]) => [
        code,
        Object(item).price,
      ])
      expect(Object.fromEntries(found)).toEqual(kept)
      await store.close()
    }),
    { numRuns: 15 },
  ))

const lower = (of: Prices): Prices =>
  Object.fromEntries(Object.entries(of).map(([code, price]) => [code.toLowerCase(), price]))
