/** One operation of the store fails while a price file is imported; then the store is well again. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { appOwner } from '../../../src/connect/stores.ts'
import { activeKey, importKey, leaseKey } from '../../../src/features/price-files/import.ts'
import { inTurn } from '../../../src/features/price-files/import-turn.ts'
import type { ImportService } from '../../../src/features/price-files/imports.ts'
import { tempDir } from '../../support/env.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { openImports, REF, upload, uploadOnly } from './service-support.ts'

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A service whose store may fail, on a platform that accepts everything. */
function setup({ totalBytes = 5_000_000 } = {}) {
  const dir = tempDir()
  const faulty = createFaultyStore()
  const { store } = faulty
  const opened: ImportService[] = []
  const open = () => {
    const imports = openImports(store, `${dir.dir}/imports`, {}, { totalBytes })
    opened.push(imports)
    return imports
  }
  cleanups.push(async () => {
    await Promise.all(opened.map((imports) => imports.close()))
    await store.close()
    dir.remove()
  })
  return { ...faulty, open }
}

const FILE = 'Code,Name,Unit,Price\nA-1,Nail,each,1\n'

test('a take-over that fails leaves the import to the next one', async () => {
  const { store, open, failFirst } = setup()
  const [imports, other] = [open(), open()]
  const id = await upload(imports, FILE)
  // As a killed process leaves it.
  const job = await imports.get('sam', id)
  await store.set(importKey('sam', id), JSON.stringify({ ...job, state: 'running', startedAt: Date.now() }))
  await store.set(activeKey(id), 'sam')
  failFirst('get', 'import')
  await expect(imports.takeOver()).rejects.toMatchObject({ code: 'store_unavailable' })
  await other.takeOver()
  await other.settled(id, 60_000)
  expect(await other.get('sam', id)).toMatchObject({ state: 'completed' })
})

test('an upload that is refused releases its lease', async () => {
  const { open, failBy } = setup({ totalBytes: 20 })
  let changes = 0
  failBy((operation, kind) => {
    if (operation === 'compareAndSet' && kind === 'import-lease') changes++
    return undefined
  })
  await expect(uploadOnly(open(), FILE)).rejects.toMatchObject({ status: 507 })
  expect(changes).toBe(2)
})

test('an upload whose record could not be written, and not be deleted, is ended by the next take-over: its file was never received', async () => {
  const { store, open, failBy, heal } = setup()
  const imports = open()
  let isDown = false
  failBy((operation, kind) => {
    if (isDown) return 'before'
    isDown = operation === 'set' && kind === 'import'
    return isDown ? 'after' : undefined
  })
  await expect(uploadOnly(imports, FILE)).rejects.toMatchObject({ code: 'store_unavailable' })
  heal()
  const [job] = await imports.list(REF)
  // The store was not reachable when it was released.
  await store.delete(leaseKey('sam', job?.id ?? ''))
  await imports.takeOver()
  await imports.settled(job?.id ?? '', 60_000)
  expect(await imports.list(REF)).toMatchObject([
    { state: 'unreadable', failure: expect.stringContaining('upload was interrupted') },
  ])
})

test('an upload whose old imports cannot be deleted is stored all the same', async () => {
  const { open, failBy } = setup()
  const imports = open()
  let lists = 0
  failBy((operation, kind) =>
    operation === 'list' && kind === 'import' && ++lists > 2 ? 'before' : undefined,
  )
  await expect(uploadOnly(imports, FILE)).resolves.toEqual(expect.any(String))
})

test('after a fault while all of a user is deleted, deleting again leaves nothing', () =>
  forEachFault(async (failing, moment) => {
    const { store, open, failOnce, heal, count } = setup()
    const imports = open()
    const id = await uploadOnly(imports, FILE)
    failOnce(failing, moment)
    await imports
      .deleteUser('sam')
      .catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
    const operations = count()
    heal()
    await imports.deleteUser('sam')
    expect(await store.ofOwner('sam')).toEqual([])
    expect(await store.ofOwner(id)).toEqual([])
    return operations
  }))

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
