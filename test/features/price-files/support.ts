import { afterEach, beforeEach } from 'vitest'
import { type Catalogues, createCatalogues } from '../../../src/features/catalogues/catalogues.ts'
import {
  type CatalogueImports,
  createCatalogueImports,
} from '../../../src/features/price-files/catalogue-imports.ts'
import { itemsBody } from '../../../src/features/price-files/contract.ts'
import { type ImportOptions, runImport } from '../../../src/features/price-files/run.ts'
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import {
  type ApiKeyAccess,
  openAccess,
  type Platform,
  startPlatform as startSandbox,
} from '../first-party/support.ts'

/** The sandbox completes imports at once. */
const FAST = { 'price-files': { importTiming: { itemsPerSecond: 10_000_000, settleMs: 50 } } }

export interface SupplierPlatform extends Platform {
  /** Every item of a catalogue, by code. */
  items(catalogueId: string): Promise<Map<string, Record<string, unknown>>>
  /** The ids of the supplier's own catalogues, by name. */
  catalogueIds(): Promise<Map<string, string>>
}

/** The sandbox over HTTP, here or in a process of its own, without a limit and with fast imports unless `options` says otherwise. */
export async function startPlatform(
  options: Partial<SandboxOptions> = {},
  where: { apart?: boolean } = {},
): Promise<SupplierPlatform> {
  const platform = await startSandbox({ features: FAST, ...options }, where)
  return {
    ...platform,
    items: (catalogueId) => itemsOf(platform.url, catalogueId),
    catalogueIds: () => catalogueIds(platform.apiUrl),
  }
}

/** Every item of a catalogue in the sandbox at `url`, by code. */
async function itemsOf(url: string, catalogueId: string): Promise<Map<string, Record<string, unknown>>> {
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
  const supplier = openSupplier(apiUrl)
  const { items } = await supplier.catalogues.list(supplier.source, { top: 100, skip: 0 })
  await supplier.close()
  return new Map(items.map(({ id, name }) => [name ?? '', id]))
}

export interface Supplier extends ApiKeyAccess {
  catalogues: Catalogues
  catalogueImports: CatalogueImports
  /** A new catalogue's id. */
  newCatalogue(name?: string): Promise<string>
}

/** The client side, by API key, with a store of its own unless one is given. */
export function openSupplier(apiUrl: string, options?: Parameters<typeof openAccess>[1]): Supplier {
  const access = openAccess(apiUrl, options)
  const catalogues = createCatalogues(access.api)
  return {
    ...access,
    catalogues,
    catalogueImports: createCatalogueImports(access.api),
    newCatalogue: async (name = 'National RRP') =>
      (await catalogues.create(access.source, { name, scope: 'Public' })).id,
  }
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

/** Imports so many generated rows with the batch id `b1`. */
export async function importRows(
  { catalogueImports, source }: Supplier,
  catalogueId: string,
  rows: number,
  options: Partial<ImportOptions> = {},
) {
  return runImport({
    catalogueImports,
    source,
    catalogueId,
    batchId: 'b1',
    items: rows,
    bodyOf: bodyOfRows(rows),
    pauseMs: 20,
    retryTimeoutMs: 10_000,
    ...options,
  })
}

/** Before each test of a file, starts a platform with a supplier who sends to a new catalogue; closes them after it. */
export function supplierOfEachTest(access?: Parameters<typeof openAccess>[1]) {
  let platform: SupplierPlatform
  let supplier: Supplier
  let catalogueId: string
  beforeEach(async () => {
    platform = await startPlatform()
    supplier = openSupplier(platform.apiUrl, access)
    catalogueId = await supplier.newCatalogue()
  })
  afterEach(async () => {
    await supplier.close()
    await platform.close()
  })
  return {
    platform: () => platform,
    /** Every item of the catalogue, by code. */
    items: () => platform.items(catalogueId),
    /** Imports so many generated rows. */
    send: (rows: number, options?: Partial<ImportOptions>) =>
      importRows(supplier, catalogueId, rows, options),
  }
}

/** The upload requests of so many generated rows. */
export const bodyOfRows = (rows: number) => async (index: number) => {
  const length = Math.min(1000, rows - index * 1000)
  return Buffer.from(itemsBody(Array.from({ length }, (_, at) => itemOf(index * 1000 + at))))
}
