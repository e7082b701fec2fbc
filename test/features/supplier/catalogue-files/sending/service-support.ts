import { expect, onTestFinished, vi } from 'vitest'
import type { KeyValueStore } from '../../../../../src/connect/stores.ts'
import { createCatalogues } from '../../../../../src/features/catalogues/catalogues.ts'
import type { Import } from '../../../../../src/features/supplier/catalogue-files/import.ts'
import { Records } from '../../../../../src/features/supplier/catalogue-files/records.ts'
import { Sender } from '../../../../../src/features/supplier/catalogue-files/sender.ts'
import { readFile } from '../../../../../src/features/supplier/catalogue-files/template.ts'
import { createLog } from '../../../../../src/runtime/log.ts'
import { type ApiKeyAccess, openAccess, type Platform, startPlatform } from '../../first-party/support.ts'
import { FAST } from './support.ts'

export const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
/** How long the lease of a process that has died lasts here, in ms. */
export const LEASE_MS = 2_000

export interface World {
  platform: Platform
  access: ApiKeyAccess
}

/** The sandbox over HTTP, and a way to call it. */
export async function openWorld(): Promise<World> {
  const platform = await startPlatform({ features: FAST })
  return { platform, access: openAccess(platform.apiUrl) }
}

export async function newCatalogue({ access }: World): Promise<string> {
  const catalogue = { name: `C ${Math.random()}`, scope: 'Public' } as const
  return (await createCatalogues(access.api).create(access.source, catalogue)).id
}

/** One process of the app on a store. `mine`: a command's import, which only this process can send. */
export function openProcess({ platform, access }: World, store: KeyValueStore, mine?: { id: string }) {
  const records = new Records(store, platform.apiUrl, LEASE_MS)
  const sender = new Sender({
    records,
    api: access.api,
    source: ({ id, by }) => (by || id === mine?.id ? access.source : null),
    log: createLog('silent'),
    pauseMs: 20,
  })
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    await sender.close()
  })
  return {
    records,
    sender,
    /** Until the test ends, looks for imports that no process sends. */
    works: () => void sender.work(stop.signal),
    /** Checks a file, by Sam or by a command (null). */
    async check(catalogueId: string, content: string, by: Import['by'] = REF): Promise<Import> {
      const items = await readFile(bytesOf(content))
      return records.add({ catalogueId, catalogueName: 'C', fileName: 'items.csv', by }, items)
    },
    /** Sends it after comparing it now. */
    async start(job: Import): Promise<Import> {
      return records.start(job, (await records.difference(job)).code, true)
    },
    /** The prices that the catalogue received, by code in lower case. */
    async received(catalogueId: string): Promise<Record<string, number>> {
      const items = (await records.received(await records.find(catalogueId))) ?? new Map()
      return Object.fromEntries([...items].map(([code, { price }]) => [code, price]))
    },
    /** Resolves to the import when it is over. */
    over: (catalogueId: string): Promise<Import | null> =>
      vi.waitFor(
        async () => {
          const job = await records.find(catalogueId)
          expect(['completed', 'failed', 'stopped', undefined]).toContain(job?.state)
          return job
        },
        { timeout: 60_000, interval: 20 },
      ),
  }
}
export type Process = ReturnType<typeof openProcess>

async function* bytesOf(content: string) {
  yield Buffer.from(content)
}

/** A store that a process can lose, as if the process were suspended. Operations wait until the store is back. */
export function freezable(store: KeyValueStore) {
  let { promise: thawed, resolve } = Promise.withResolvers<void>()
  resolve()
  const frozen = (operation: (...args: never[]) => Promise<unknown>) =>
    async function wait(...args: never[]) {
      await thawed
      const result = await operation(...args)
      await thawed
      return result
    }
  const operations = Object.entries(store).map(([name, value]) => [
    name,
    typeof value === 'function' && name !== 'close' ? frozen(value.bind(store)) : value,
  ])
  return {
    store: Object.fromEntries(operations) as KeyValueStore,
    freeze() {
      ;({ promise: thawed, resolve } = Promise.withResolvers<void>())
    },
    thaw: () => resolve(),
  }
}
