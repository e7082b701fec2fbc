import { afterEach, beforeEach } from 'vitest'
import { createCatalogues } from '../../../../src/features/catalogues/catalogues.ts'
import { createCatalogueImports } from '../../../../src/features/supplier/price-files/catalogue-imports.ts'
import { itemsBody } from '../../../../src/features/supplier/price-files/contract.ts'
import { type ImportOptions, runImport } from '../../../../src/features/supplier/price-files/run.ts'
import type { SandboxOptions } from '../../../../src/sandbox/sandbox.ts'
import {
  type ApiKeyAccess,
  openAccess,
  type Platform,
  startPlatform as startSandbox,
} from '../first-party/support.ts'

/** The sandbox completes imports at once. */
export const FAST = { 'price-files': { importTiming: { itemsPerSecond: 10_000_000, settleMs: 0 } } }

export interface SupplierPlatform extends Platform {
  /** Every item of a catalogue, by code. */
  items(catalogueId: string): Promise<Map<string, Record<string, unknown>>>
  /** The ids of the supplier's own catalogues, by name. */
  catalogueIds(): Promise<Map<string, string>>
}

/** The sandbox over HTTP, without a limit and with fast imports unless `options` says otherwise. */
export async function startPlatform(options: Partial<SandboxOptions> = {}): Promise<SupplierPlatform> {
  const platform = await startSandbox({ features: FAST, ...options })
  return {
    ...platform,
    items: (catalogueId) => itemsOf(platform.url, catalogueId),
    catalogueIds: () => catalogueIds(platform.apiUrl),
  }
}

/** Every item of a catalogue in the sandbox at `url`, by code. */
export async function itemsOf(
  url: string,
  catalogueId: string,
): Promise<Map<string, Record<string, unknown>>> {
  const all = new Map<string, Record<string, unknown>>()
  for (let after = ''; ; ) {
    const query = new URLSearchParams({ after, top: '5000' })
    const answer = await fetch(`${url}/sandbox/catalogues/${catalogueId}/items?${query}`)
    const { items } = (await answer.json()) as { items: { code: string }[] }
    for (const item of items) all.set(item.code, item)
    const last = items.at(-1)
    if (!last || items.length < 5000) return all
    after = last.code
  }
}

async function catalogueIds(apiUrl: string): Promise<Map<string, string>> {
  const { api, source, close } = openAccess(apiUrl)
  const { items } = await createCatalogues(api).list(source, { top: 100, skip: 0 })
  await close()
  return new Map(items.map(({ id, name }) => [name ?? '', id]))
}

/** The item of a generated price file's row. */
export const itemOf = (row: number) => ({
  code: `ITEM-${String(row).padStart(7, '0')}`,
  name: `Framing timber, 90x45, ${row} mm`,
  unit: 'each',
  category: `Range ${row % 9}`,
  price: (((row * 7919) % 99_999) + 100) / 100,
})

const HEAD = 'code,name,unit,category,price\n'
const lineOf = (row: number) => {
  const { code, name, unit, category, price } = itemOf(row)
  return `${code},"${name}",${unit},${category},${price.toFixed(2)}\n`
}

/** A price file of so many rows. */
export const priceFile = (rows: number): string =>
  HEAD + Array.from({ length: rows }, (_, row) => lineOf(row)).join('')

/** The items of a generated price file of so many rows, by code. */
export const itemsOfRows = (rows: number) =>
  new Map(Array.from({ length: rows }, (_, row) => [itemOf(row).code, itemOf(row)]))

/** Before each test of a file, starts a platform with a supplier who sends to a new catalogue; closes them after it. */
export function supplierOfEachTest(options?: Parameters<typeof openAccess>[1]) {
  let platform: SupplierPlatform
  let access: ApiKeyAccess
  let catalogueId: string
  beforeEach(async () => {
    platform = await startPlatform()
    access = openAccess(platform.apiUrl, options)
    const catalogue = { name: 'National RRP', scope: 'Public' } as const
    catalogueId = (await createCatalogues(access.api).create(access.source, catalogue)).id
  })
  afterEach(async () => {
    await access.close()
    await platform.close()
  })
  return {
    platform: () => platform,
    /** Every item of the catalogue, by code. */
    items: () => platform.items(catalogueId),
    /** Imports so many generated rows with the batch id `b1`. */
    send: (rows: number, more?: Partial<ImportOptions>) =>
      runImport({
        catalogueImports: createCatalogueImports(access.api),
        source: access.source,
        catalogueId,
        batchId: 'b1',
        items: rows,
        bodyOf: async (index) => {
          const length = Math.min(1000, rows - index * 1000)
          return Buffer.from(itemsBody(Array.from({ length }, (_, at) => itemOf(index * 1000 + at))))
        },
        pauseMs: 20,
        retryTimeoutMs: 10_000,
        ...more,
      }),
  }
}
