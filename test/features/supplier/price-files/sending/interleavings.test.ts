/** Whatever tabs, users and commands do at once: what is sent is what a page has shown whose *Send* was pressed. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openSqlite } from '../../../../../src/connect/stores.ts'
import { createCatalogues } from '../../../../../src/features/catalogues/catalogues.ts'
import { createCatalogueImports } from '../../../../../src/features/supplier/price-files/catalogue-imports.ts'
import { commandLineImport, type Import } from '../../../../../src/features/supplier/price-files/import.ts'
import { readPriceFile } from '../../../../../src/features/supplier/price-files/read-price-file.ts'
import { sendFile } from '../../../../../src/features/supplier/price-files/send-file.cli.ts'
import { openTurns } from '../../../../../src/features/supplier/price-files/turns.ts'
import { tempDir } from '../../../../support/env.ts'
import { type ApiKeyAccess, openAccess } from '../../first-party/support.ts'
import { type SupplierPlatform, startPlatform } from '../support.ts'
import { API_URL, CHOICE, openImports, settled, upload } from './service-support.ts'

let platform: SupplierPlatform
let access: ApiKeyAccess
beforeAll(async () => {
  const importTiming = { itemsPerSecond: 1_000_000, settleMs: 0 }
  platform = await startPlatform({ features: { 'price-files': { importTiming } } })
  access = openAccess(platform.apiUrl)
  // What the command prints.
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await access.close()
  await platform.close()
})

type Prices = Record<string, number>
const prices = fc.dictionary(fc.constantFrom('A', 'B', 'C'), fc.integer({ min: 1, max: 9 }), { minKeys: 2 })
/** One of the last tabs. */
const at = fc.nat(2)
const step = fc.oneof(
  fc.record({ kind: fc.constant('upload'), who: fc.constantFrom('sam', 'alex'), prices }),
  fc.record({ kind: fc.constant('open'), at }),
  fc.record({ kind: fc.constant('choose'), at, units: fc.constantFrom(1, 2) }),
  fc.record({ kind: fc.constant('leaveOut'), at, code: fc.constantFrom('A', 'B') }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send'), at }) },
  fc.record({ kind: fc.constant('command'), prices }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
/** What happens at once, and whether the next waits until everything has ended. */
const moment = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 2 }), isQuiet: fc.boolean() })

const inTurn = (...steps: Step[]) => steps.map((one) => ({ steps: [one], isQuiet: true }))
const uploadOf = (who: 'sam' | 'alex'): Step => ({ kind: 'upload', who, prices: { A: 1, B: 2 } })
const LEFT_OUT = inTurn(uploadOf('sam'), { kind: 'leaveOut', at: 0, code: 'A' }, { kind: 'send', at: 0 })
const STALE_TAB = inTurn(uploadOf('sam'), { kind: 'choose', at: 0, units: 2 }, { kind: 'send', at: 1 })
const COMMAND = inTurn(uploadOf('sam'), { kind: 'command', prices: { A: 3, C: 4 } }, { kind: 'send', at: 0 })
const TWO_USERS = inTurn(uploadOf('sam'), uploadOf('alex'), { kind: 'send', at: 1 }, { kind: 'send', at: 0 })

const fileOf = (of: Prices) => ['code,price', ...Object.entries(of).map((row) => row.join()), ''].join('\n')
const pricesIn = (items: Iterable<{ code: string; price: number }>): Prices =>
  Object.fromEntries([...items].map(({ code, price }) => [code, price]))

/** A catalogue, and a page two as somebody sees it: a tab that is not loaded again. */
async function openWorld() {
  const { id } = await createCatalogues(access.api).create(access.source, { name: 'World', scope: 'Public' })
  const store = openSqlite({ file: ':memory:' })
  const api = createCatalogueImports(access.api)
  /** What was sent, by import. */
  const sent: Record<string, Prices> = {}
  const uploadItems: typeof api.uploadItems = (source, catalogueId, batchId, body) => {
    sent[batchId.split('.')[0] ?? ''] = pricesIn(JSON.parse(Buffer.from(body).toString()).items)
    return api.uploadItems(source, catalogueId, batchId, body)
  }
  const open = () => openImports(store, { ...api, uploadItems }, { source: () => access.source })
  const processes = [open(), open()] as const
  const tabs: { job: Import; items: Prices }[] = []
  /** What was to be sent, by import, and the revisions that the pages had compared with. */
  const named: Record<string, Prices> = {}
  const revisions: string[] = []

  async function show(job: Import): Promise<void> {
    const items = job.state === 'ready' ? await Array.fromAsync(processes[0].stored.items(job)) : []
    tabs.unshift({ job, items: pricesIn(items) })
  }
  /** What the command does with a file that somebody has looked at. */
  async function push(of: Prices): Promise<void> {
    const { dir, write, remove } = tempDir()
    const itemsPath = join(dir, 'items')
    const turns = openTurns(store, API_URL)
    const { revision, received } = await turns.received.read(id)
    const how = { draft: CHOICE, goOn: true, leftOut: [], received, itemsPath }
    const reading = await readPriceFile(write(fileOf(of)), how)
    const read = { checkId: randomUUID(), reading, itemsPath, leftOut: [], receivedRevision: revision }
    const job = commandLineImport('prices.csv', { id }, read)
    const { signal } = new AbortController()
    const to = { catalogueImports: { ...api, uploadItems }, source: access.source, turns, signal }
    if (!(await sendFile(job, read, to).finally(remove))) return
    named[job.id] = of
    revisions.push(revision)
  }
  /** Of the process with this number: 0 or 1. */
  async function run(one: Step, process: 0 | 1): Promise<void> {
    const imports = processes[process]
    if (one.kind === 'command') return push(one.prices)
    if (one.kind === 'upload') return show(await upload(imports, fileOf(one.prices), one.who, id))
    const tab = tabs[one.at]
    if (!tab) return
    // A request finds the record of now, and its form is that of the tab.
    const job = await imports.stored.get(tab.job)
    if (one.kind === 'open') return show(job)
    if (one.kind === 'choose')
      return show(await imports.choose(job, { draft: { ...CHOICE, units: one.units }, goOn: true }))
    const leftOut = one.kind === 'leaveOut' ? [...tab.job.leftOut, one.code] : tab.job.leftOut
    const isSent = await imports.send(job, { seen: tab.job.checkId, leftOut, confirmed: true })
    if (!isSent) return show(await imports.stored.get(job))
    expect(named[job.id], 'sent twice').toBeUndefined()
    named[job.id] = Object.fromEntries(Object.entries(tab.items).filter(([code]) => !leftOut.includes(code)))
    revisions.push(tab.job.receivedRevision)
  }
  const quiet = () => Promise.all(tabs.map(({ job }) => settled(processes[0], job)))
  return { run, quiet, sent, named, revisions }
}

test('each send has exactly the items of the page that was sent, and nothing else is sent, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 4, maxLength: 12 }), async (moments) => {
      const { run, quiet, sent, named, revisions } = await openWorld()
      for (const { steps, isQuiet } of moments) {
        const results = await Promise.allSettled(steps.map((one, index) => run(one, index === 0 ? 0 : 1)))
        for (const result of results)
          if (result.status === 'rejected')
            expect(result.reason).toMatchObject({ status: expect.toBeOneOf([400, 409]) })
        if (isQuiet) await quiet()
      }
      await quiet()
      expect(sent).toEqual(named)
      // Each send changes what was received: no two pages compared with the same.
      expect(new Set(revisions).size).toBe(revisions.length)
    }),
    {
      numRuns: process.env.LONG_TESTS ? 300 : 12,
      examples: [[STALE_TAB], [TWO_USERS], [LEFT_OUT], [COMMAND]],
    },
  )
})
