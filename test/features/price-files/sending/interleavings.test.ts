/** Whatever tabs, users and commands do at once: what is sent is what a page has shown whose *Send* was pressed. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../../src/connect/stores.ts'
import { createCatalogues } from '../../../../src/features/catalogues/catalogues.ts'
import { createCatalogueImports } from '../../../../src/features/price-files/catalogue-imports.ts'
import type { Import } from '../../../../src/features/price-files/import.ts'
import type { Imports } from '../../../../src/features/price-files/imports.ts'
import { Push } from '../../../../src/features/price-files/push.cli.ts'
import { readPriceFile } from '../../../../src/features/price-files/read-price-file.ts'
import { tempDir } from '../../../support/env.ts'
import { type ApiKeyAccess, openAccess } from '../../first-party/support.ts'
import { type SupplierPlatform, startPlatform } from '../support.ts'
import { CHOICE, openImports, settled, upload } from './service-support.ts'

let platform: SupplierPlatform
let access: ApiKeyAccess
beforeAll(async () => {
  const importTiming = { itemsPerSecond: 1_000_000, settleMs: 0 }
  platform = await startPlatform({ features: { 'price-files': { importTiming } } })
  access = openAccess(platform.apiUrl)
})
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  return () => vi.restoreAllMocks()
})
afterAll(async () => {
  await access.close()
  await platform.close()
})

type Prices = Record<string, number>
/** A page two as somebody sees it: a tab that is not loaded again. */
interface Tab {
  job: Import
  items: Prices
}

const USERS = ['sam', 'alex']
const prices = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), fc.integer({ min: 1, max: 9 }), {
  minKeys: 1,
})
const who = fc.constantFrom(...USERS)
/** Few tabs, so that they meet. */
const at = fc.nat(3)
const step = fc.oneof(
  fc.record({ kind: fc.constant('upload'), who, prices }),
  fc.record({ kind: fc.constant('open'), at }),
  fc.record({ kind: fc.constant('choose'), at, units: fc.constantFrom(1, 2) }),
  fc.record({ kind: fc.constant('leaveOut'), at, code: fc.constantFrom('A', 'B') }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send'), at }) },
  fc.record({ kind: fc.constant('command'), prices }),
)
/** What happens at once, and whether the next waits until what was sent has ended. */
const group = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 3 }), isSettled: fc.boolean() })
type Group = typeof group extends fc.Arbitrary<infer T> ? T : never
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const fileOf = (of: Prices) =>
  `code,price\n${Object.entries(of)
    .map((row) => row.join())
    .join('\n')}\n`

/** A new catalogue, in which all that happens. Resolves to what was sent, and what should have been. */
async function walk(groups: Group[]) {
  const catalogue = await createCatalogues(access.api).create(access.source, {
    name: 'Walk',
    scope: 'Public',
  })
  const store = openSqlite({ file: ':memory:' })
  const inner = createCatalogueImports(access.api)
  /** By the platform's import. */
  const uploaded = new Map<string, Prices>()
  const catalogueImports: typeof inner = {
    ...inner,
    uploadItems: (source, id, batchId, body) => {
      const { items } = JSON.parse(Buffer.from(body).toString())
      uploaded.set(
        batchId,
        Object.fromEntries(items.map((item: { code: string; price: number }) => [item.code, item.price])),
      )
      return inner.uploadItems(source, id, batchId, body)
    },
  }
  const processes = [1, 2].map(() => openImports(store, catalogueImports, { source: () => access.source }))
  const [imports] = processes
  if (!imports) throw new Error('there are two')
  const tabs: Tab[] = []
  const sends = new Map<string, Prices>()
  /** Of what the catalogue had received, those that a send named: each send changes it. */
  const revisions: string[] = []
  const tabOf = async (job: Import): Promise<void> => {
    const items: Prices = {}
    if (job.state === 'ready') for await (const item of imports.items(job)) items[item.code] = item.price
    tabs.push({ job, items })
  }
  const pick = (at: number) => tabs[at % Math.max(1, tabs.length)]

  async function run(one: Step, at: number): Promise<void> {
    const service: Imports = processes[at % 2] ?? imports
    if (one.kind === 'upload') return tabOf(await upload(service, fileOf(one.prices), one.who, catalogue.id))
    if (one.kind === 'command') return void (await command(one.prices))
    const tab = pick(one.at)
    if (!tab) return
    // The record is that of now, and the page is that of the tab, as a request of a form has them.
    const job = await service.get(tab.job.userId, tab.job.id)
    if (one.kind === 'open') return tabOf(job)
    if (one.kind === 'choose')
      return tabOf(await service.choose(job, { draft: { ...CHOICE, units: one.units }, goOn: true }))
    const leftOut = one.kind === 'leaveOut' ? [...tab.job.leftOut, one.code] : tab.job.leftOut
    const result = await service.send(job, { seen: tab.job.checkId, leftOut, confirmed: true })
    if (!result.isSent) return tabOf(result.job)
    expect(sends.has(job.id)).toBe(false)
    sends.set(job.id, tab.items)
    revisions.push(tab.job.receivedRevision)
  }

  async function command(of: Prices): Promise<void> {
    const { dir, write, remove } = tempDir()
    const session = { ...access, store, apiUrl: 'https://api.platform.example', credential: 'key' }
    const push = new Push(session, { catalogueId: catalogue.id }, new AbortController().signal)
    await push.inTurn(async (target) => {
      const itemsPath = `${dir}/items`
      const how = { draft: CHOICE, goOn: true, received: target.received, leftOut: [], itemsPath }
      const { found } = await readPriceFile(write(fileOf(of)), how)
      if (!found) return
      await push.send(target, { fileName: 'prices.csv', found, itemsPath })
      revisions.push(target.revision)
    })
    remove()
  }

  let at = 0
  for (const group of groups)
    for (const { reason } of (await Promise.allSettled(
      group.map((one) => run(one, at++)),
    )) as PromiseRejectedResult[])
      if (reason) expect(reason).toMatchObject({ status: expect.toBeOneOf([400, 409]) })
  for (const { job } of tabs)
    if (sends.has(job.id)) expect(await settled(imports, job)).toMatchObject({ state: 'completed' })
  return { uploaded, sends, revisions }
}

test('each send has exactly the items of the page that was sent, and nothing else is sent, at any order of events', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 10 }),
      async (groups) => {
        const { uploaded, sends, revisions } = await walk(groups)
        expect(Object.fromEntries(uploaded)).toEqual(Object.fromEntries(sends))
        // No two pages compared with the same, so nobody's prices were overwritten by what somebody else had not seen.
        expect(new Set(revisions).size).toBe(revisions.length)
      },
    ),
    { numRuns: process.env.LONG_TESTS ? 200 : 15 },
  ))
