/** One operation of the store fails while a price file is imported; then the store is well again. */
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { appOwner } from '../../../src/connect/stores.ts'
import { activeKey, jobKey, leaseKey } from '../../../src/features/price-files/import-job.ts'
import { createImportService, type ImportService } from '../../../src/features/price-files/import-service.ts'
import { inTurn } from '../../../src/features/price-files/import-turn.ts'
import { readPrices } from '../../../src/features/price-files/last-prices.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/env.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'

const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
const token = async () => 'token'
const SOURCE = {
  accessToken: token,
  refresh: token,
  grantedScopes: async () => null,
  noteCall: async () => {},
}

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A service whose store may fail, on a platform that accepts everything. */
function setup({ totalBytes = 5_000_000, shared = false } = {}) {
  const dir = tempDir()
  const faulty = createFaultyStore()
  const store = { ...faulty.store, shared }
  const opened: ImportService[] = []
  const open = () => {
    const imports = createImportService({
      store,
      dir: `${dir.dir}/imports`,
      maxBytes: 1_000_000,
      quotaBytes: 5_000_000,
      totalBytes,
      catalogueImports: {
        start: async (_source, _id, batchId) => ({ batchId, status: 'Started' }),
        uploadItems: async () => {},
        get: async () => ({ status: 'Completed' }),
      },
      source: () => SOURCE,
      log: createLog('silent'),
    })
    opened.push(imports)
    return imports
  }
  cleanups.push(async () => {
    await Promise.all(opened.map((imports) => imports.close()))
    await store.close()
    dir.remove()
  })
  return { ...faulty, store, open, files: () => readdirSync(`${dir.dir}/imports`), dir: `${dir.dir}/imports` }
}

async function upload(imports: ImportService, price = 1, rows = 1): Promise<string> {
  const items = Array.from({ length: rows }, (_, row) => `A-${row},Nail ${row},each,${price}\n`)
  async function* bytes() {
    yield Buffer.from(`Code,Name,Unit,Price\n${items.join('')}`)
  }
  const to = { catalogue: { id: '1', name: 'Fresh' }, fileName: 'prices.csv' }
  const { id } = await imports.upload(REF, to, bytes())
  await imports.settled(id, 60_000)
  return id
}

async function send(imports: ImportService, id: string): Promise<void> {
  await imports.start('sam', id)
  await imports.settled(id, 60_000)
}

test('a take-over that fails leaves the import to the next one', async () => {
  const { store, open, failFirst } = setup()
  const [imports, other] = [open(), open()]
  const id = await upload(imports)
  // As a killed process leaves it.
  const job = await imports.get('sam', id)
  await store.set(jobKey('sam', id), JSON.stringify({ ...job, state: 'running', startedAt: Date.now() }))
  await store.set(activeKey(id), 'sam')
  failFirst('get', 'import')
  await expect(imports.takeOver()).rejects.toMatchObject({ code: 'store_unavailable' })
  await other.takeOver()
  await other.settled(id, 60_000)
  expect(await other.get('sam', id)).toMatchObject({ state: 'completed' })
})

test('an upload that is refused releases its lease', async () => {
  const { open, failBy } = setup({ totalBytes: 20_000, shared: true })
  let changes = 0
  failBy((operation, kind) => {
    if (operation === 'compareAndSet' && kind === 'import-lease') changes++
    return undefined
  })
  await expect(upload(open(), 1, 2_000)).rejects.toMatchObject({ status: 413 })
  expect(changes).toBe(2)
})

test('an upload whose record could not be written, and not be deleted, goes on in the next take-over', async () => {
  const { store, open, failBy, heal } = setup()
  const imports = open()
  let isDown = false
  failBy((operation, kind) => {
    if (isDown) return 'before'
    isDown = operation === 'set' && kind === 'import'
    return isDown ? 'after' : undefined
  })
  await expect(upload(imports)).rejects.toMatchObject({ code: 'store_unavailable' })
  heal()
  const [job] = await imports.list(REF)
  // The store was not reachable when it was released.
  await store.delete(leaseKey('sam', job?.id ?? ''))
  await imports.takeOver()
  await imports.settled(job?.id ?? '', 60_000)
  expect(await imports.list(REF)).toMatchObject([{ state: 'ready', failure: null }])
})

test('an upload whose old imports cannot be deleted is stored all the same', async () => {
  const { open, failBy } = setup()
  const imports = open()
  let lists = 0
  failBy((operation, kind) =>
    operation === 'list' && kind === 'import' && ++lists > 2 ? 'before' : undefined,
  )
  await expect(upload(imports)).resolves.toEqual(expect.any(String))
})

test('after a fault while all of a user is deleted, deleting again leaves nothing', () =>
  forEachFault(async (failing, moment) => {
    const { store, open, failOnce, heal, count, files } = setup()
    const imports = open()
    const id = await upload(imports)
    failOnce(failing, moment)
    await imports
      .deleteUser('sam')
      .catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
    const operations = count()
    heal()
    await imports.deleteUser('sam')
    expect(await store.ofOwner('sam')).toEqual([])
    expect(files().filter((name) => name.includes(id))).toEqual([])
    return operations
  }))

test('an import that is completed again after a later one does not bring its prices back', async () => {
  const { store, open, dir } = setup()
  const imports = open()
  const first = await upload(imports, 10)
  const { state: _, ...job } = await imports.get('sam', first)
  await send(imports, first)
  await send(imports, await upload(imports, 20))
  const lastPrices = () =>
    readdirSync(dir)
      .filter((name) => name.startsWith('catalogue-'))
      .flatMap((name) => [...readPrices(`${dir}/${name}`).entries].map(({ price }) => price))
  expect(lastPrices()).toEqual([20])
  // Its file is there again, as after a deletion that failed.
  const again = await upload(imports, 10)
  const completed = { ...job, id: again, state: 'completed', endedAt: job.createdAt }
  await store.set(jobKey('sam', again), JSON.stringify(completed))
  await imports.resume()
  expect(lastPrices()).toEqual([20])
})

test('an import whose turn is lost stops, and goes on when it is its turn again', async () => {
  const { store } = setup()
  const signals: AbortSignal[] = []
  const signal = new AbortController().signal
  const result = inTurn({ store, catalogueId: '1', signal, onWait: () => {} }, async (turn) => {
    signals.push(turn)
    if (signals.length > 1) return 'done'
    // As after an outage that lasted longer than the lease.
    await store.delete({ kind: 'catalogue-import', owner: appOwner('catalogue-imports'), id: '1' })
    while (!turn.aborted) await pause(20)
    throw turn.reason
  })
  expect(await result).toBe('done')
  expect(signals).toHaveLength(2)
})
