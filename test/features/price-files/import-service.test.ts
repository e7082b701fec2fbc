import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import { createImportService, type ImportService } from '../../../src/features/price-files/import-service.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/env.ts'
import { rowsOf } from './pages-support.ts'

const REF = { userId: 'sam', bxcontext: 'summit-supplies' }

/** A platform that accepts everything; each test replaces the part that it tests. */
const ACCEPTING: CatalogueImports = {
  start: async (_source, _id, batchId) => ({ batchId, status: 'Started' }),
  uploadItems: async () => {},
  get: async () => ({ status: 'Completed' }),
}
const token = async () => 'token'
const SOURCE = {
  accessToken: token,
  refresh: token,
  grantedScopes: async () => null,
  noteCall: async () => {},
}

let dir: ReturnType<typeof tempDir>
let store: KeyValueStore
let opened: ImportService[]
beforeEach(() => {
  dir = tempDir()
  store = openSqlite({ file: ':memory:' })
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((imports) => imports.close()))
  await store.close()
  dir.remove()
})

function open(platform: Partial<CatalogueImports> = {}): ImportService {
  const imports = createImportService({
    store,
    dir: `${dir.dir}/imports`,
    maxBytes: 1_000_000,
    quotaBytes: 5_000_000,
    totalBytes: 5_000_000,
    catalogueImports: { ...ACCEPTING, ...platform },
    source: () => SOURCE,
    log: createLog('silent'),
  })
  opened.push(imports)
  return imports
}
/** A checked import of so many rows. */
async function uploaded(imports: ImportService, rows = 10): Promise<string> {
  const to = { catalogue: { id: '1', name: 'Fresh' }, fileName: 'prices.csv' }
  async function* bytes() {
    yield Buffer.from(rowsOf(rows))
  }
  const { id } = await imports.upload(REF, to, bytes())
  await imports.settled(id, 20_000)
  return id
}

test('an import that is stopped just as the platform completes it keeps its file, and can be sent again', async () => {
  let stopped = false
  const imports = open({
    get: async () => {
      if (!stopped) await imports.stop('sam', id)
      stopped = true
      return { status: 'Completed' }
    },
  })
  const id = await uploaded(imports)
  await imports.start('sam', id)
  await imports.settled(id, 10_000)
  expect(await imports.get('sam', id)).toMatchObject({ state: 'stopped', failure: null })
  await imports.start('sam', id)
  await imports.settled(id, 10_000)
  expect(await imports.get('sam', id)).toMatchObject({ state: 'completed', failure: null })
})

test('an import whose process has died is taken over by another one, which goes on after the last accepted batch', async () => {
  const uploads: string[] = []
  const stalled = Promise.withResolvers<void>()
  const hanging = open({
    uploadItems: () => {
      uploads.push('first')
      return uploads.length === 1 ? Promise.resolve() : stalled.promise
    },
  })
  const id = await uploaded(hanging, 2_500)
  await hanging.start('sam', id)
  await vi.waitFor(async () => expect((await hanging.get('sam', id)).progress?.batches).toBe(1))
  // As a killed process leaves it: without an end, and with a lease that has expired.
  await store.delete({ kind: 'import-lease', owner: 'sam', id })
  const other = open({
    uploadItems: async () => void uploads.push('other'),
    get: async () => ({ status: uploads.length < 4 ? 'Started' : 'Completed' }),
  })
  await other.takeOver()
  await other.settled(id, 10_000)
  expect(await other.get('sam', id)).toMatchObject({
    state: 'completed',
    progress: { sent: 2_500, batches: 3 },
  })
  stalled.resolve()
  // The first process, which is not really dead here, may have begun another one.
  expect(uploads.filter((by) => by === 'other')).toHaveLength(2)
})
