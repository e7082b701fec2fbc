import { expect, vi } from 'vitest'
import type { KeyValueStore } from '../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import { type Check, checkPriceFile } from '../../../src/features/price-files/check-rows.ts'
import type { Import } from '../../../src/features/price-files/import.ts'
import { Imports, type ImportsOptions } from '../../../src/features/price-files/imports.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { type Answers, draftOf } from './read-support.ts'

export const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
const token = async () => 'token'
const SOURCE = {
  accessToken: token,
  refresh: token,
  grantedScopes: async () => null,
  noteCall: async () => {},
}

/** A platform that accepts everything; each test replaces the part that it tests. */
export const ACCEPTING: CatalogueImports = {
  start: async (_source, _id, batchId) => ({ batchId, status: 'Started' }),
  uploadItems: async () => undefined,
  get: async () => ({ status: 'Completed' }),
}

export type Limits = Pick<Partial<ImportsOptions>, 'quotaBytes' | 'totalBytes' | 'turnMs'>

/** The service alone, on a store and with a folder, against a platform that accepts everything. */
export const openImports = (
  store: KeyValueStore,
  dir: string,
  platform: Partial<CatalogueImports> = {},
  limits: Limits = {},
): Imports =>
  new Imports({
    store,
    dir,
    maxBytes: 1_000_000,
    quotaBytes: 5_000_000,
    totalBytes: 5_000_000,
    ...limits,
    // Here, not in a process: what a file may do to it is tested elsewhere.
    read: ({ path, ...how }) => checkPriceFile(path, how),
    catalogueImports: { ...ACCEPTING, ...platform },
    source: () => SOURCE,
    log: createLog('silent'),
  })

/** Uploads a file; resolves to its id. */
export async function uploadOnly(imports: Imports, text: string, userId = REF.userId): Promise<string> {
  async function* bytes() {
    yield Buffer.from(text)
  }
  const to = { catalogue: { id: '1', name: 'Fresh', scope: 'Public' }, fileName: 'prices.csv' }
  const { id } = await imports.upload({ ...REF, userId }, to, bytes())
  return id
}

/** An import, and what was found in its file. */
export async function readingOf(imports: Imports, id: string): Promise<[Import, Check]> {
  const job = await imports.get(REF.userId, id)
  const reading = await imports.reading(job)
  if (!reading) throw new Error('the file was not read')
  return [job, reading]
}

/** Says how the file is read. */
export async function answerFile(imports: Imports, id: string, answers: Answers = {}): Promise<void> {
  const [job, reading] = await readingOf(imports, id)
  await imports.answer(job, draftOf(reading, answers))
}

/** Says how the file is read, and confirms it. */
export async function confirmFile(imports: Imports, id: string, answers: Answers = {}): Promise<void> {
  await answerFile(imports, id, answers)
  await imports.confirm(REF.userId, id)
}

/** Uploads a file and confirms how it is read. */
export async function upload(imports: Imports, text: string, answers: Answers = {}): Promise<string> {
  const id = await uploadOnly(imports, text)
  await confirmFile(imports, id, answers)
  return id
}

/** Resolves to an import when it runs no more. On a slow machine, a store may fail meanwhile. */
export const settled = (imports: Imports, id: string): Promise<Import> =>
  vi.waitFor(
    async () => {
      await imports.sender.sendWaiting()
      const job = await imports.get('sam', id)
      expect(job.state).not.toBe('running')
      return job
    },
    { timeout: 60_000, interval: 20 },
  )

/** Sends an import to its end. */
export async function send(imports: Imports, id: string): Promise<Import> {
  await imports.start('sam', id)
  return settled(imports, id)
}
