import { expect, onTestFinished, vi } from 'vitest'
import type { KeyValueStore } from '../../../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../../../src/features/supplier/price-files/catalogue-imports.ts'
import type { Choice } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Import } from '../../../../../src/features/supplier/price-files/import.ts'
import { Imports, type ImportsOptions } from '../../../../../src/features/supplier/price-files/imports.ts'
import { createLog } from '../../../../../src/runtime/log.ts'
import { tempDir } from '../../../../support/env.ts'
import { readHere } from '../read-here.ts'

export const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
export const API_URL = 'https://api.platform.example'
const token = async () => 'token'
export const SOURCE = {
  accessToken: token,
  refresh: token,
  grantedScopes: async () => null,
  noteCall: async () => {},
}

/** What it answers to an upload of which it has accepted all items. */
export const ALL = { count: 0, message: '' }

/** A platform that accepts everything; each test replaces the part that it tests. */
export const ACCEPTING: CatalogueImports = {
  start: async () => {},
  uploadItems: async () => ALL,
  get: async () => ({ status: 'Completed' }),
}

/** How the files of these tests are read. */
export const CHOICE: Choice = {
  sheet: '',
  headingsRow: 1,
  columns: [
    { heading: 'code', number: 1, use: 'code' },
    { heading: 'price', number: 2, use: 'price' },
  ],
  money: 'AUD before GST',
  units: 1,
  decimal: null,
}

/** A price file of so many rows. */
export const rowsOf = (count: number, price = 1) =>
  `code,price\n${Array.from({ length: count }, (_, row) => `C${row},${row + price}`).join('\n')}\n`

/** The service alone, in a folder of its own, against a platform that accepts everything. */
export function openImports(
  store: KeyValueStore,
  platform: Partial<CatalogueImports> = {},
  options: Partial<ImportsOptions> = {},
): Imports {
  readHere()
  const { dir, remove } = tempDir()
  const imports = new Imports({
    store,
    dir,
    apiUrl: API_URL,
    maxBytes: 1_000_000,
    totalBytes: 20_000_000,
    catalogueImports: { ...ACCEPTING, ...platform },
    source: () => SOURCE,
    log: createLog('silent'),
    ...options,
  })
  onTestFinished(() => imports.sender.close().then(remove))
  return imports
}

/** Uploads a file. */
export function uploadOnly(imports: Imports, text: string, userId = REF.userId, catalogue = '1') {
  async function* bytes() {
    yield Buffer.from(text)
  }
  const to = { catalogue: { id: catalogue, name: 'Fresh', scope: 'Public' }, fileName: 'prices.csv' }
  return imports.upload({ ...REF, userId }, to, bytes())
}

/** Uploads a file, and goes on to page two. */
export async function upload(imports: Imports, text: string, userId = REF.userId, catalogue = '1') {
  const job = await uploadOnly(imports, text, userId, catalogue)
  return job.choice ? job : imports.choose(job, { draft: CHOICE, goOn: true })
}

/** Presses *Send* on the page of an import, with the box ticked. */
export const press = (imports: Imports, job: Import): Promise<Import | null> =>
  imports.send(job, { seen: job.checkId, leftOut: job.leftOut, confirmed: true })

/** Resolves to an import when it runs no more, and what was accepted is merged. On a slow machine, a store may fail meanwhile. */
export const settled = (imports: Imports, job: Import): Promise<Import> =>
  vi.waitFor(
    async () => {
      const now = await imports.stored.get(job)
      expect(now.state).not.toBe('running')
      return now
    },
    { timeout: 60_000, interval: 20 },
  )
