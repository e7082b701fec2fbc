/** One operation of the store fails while a price file is imported; then the store is well again. */
import { afterEach, expect, test, vi } from 'vitest'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import type { Imports } from '../../../src/features/price-files/imports.ts'
import { turnKey } from '../../../src/features/price-files/turn.ts'
import { tempDir } from '../../support/env.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { rowsOf } from './pages-support.ts'
import { openImports, REF, settled, upload, uploadOnly } from './service-support.ts'

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A service whose store may fail, on a platform that accepts everything. */
function setup() {
  const dir = tempDir()
  const faulty = createFaultyStore()
  const { store } = faulty
  const opened: Imports[] = []
  const open = (platform: Partial<CatalogueImports> = {}, turnMs = 10_000) => {
    const imports = openImports(store, `${dir.dir}/imports`, platform, { turnMs })
    opened.push(imports)
    return imports
  }
  cleanups.push(async () => {
    await Promise.all(opened.map((imports) => imports.sender.close()))
    await store.close()
    dir.remove()
  })
  return { ...faulty, open }
}

const FILE = 'Code,Name,Unit,Price\nA-1,Nail,each,1\n'

test('a take-over that fails leaves the import to the next one', async () => {
  const { open, failFirst } = setup()
  const [imports, other] = [open(), open()]
  const id = await upload(imports, FILE)
  // Nobody begins to send it.
  failFirst('compareAndSet', 'catalogue-import')
  await imports.start('sam', id)
  failFirst('get', 'import')
  await expect(imports.sender.sendWaiting()).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await settled(other, id)).toMatchObject({ state: 'completed' })
})

test('a batch that cannot be read while the store is out leaves the import running, and it goes on by itself', async () => {
  const { open, failFirst } = setup()
  const imports = open()
  const id = await upload(imports, rowsOf(1_500))
  failFirst('get', 'import-part')
  await imports.start('sam', id)
  await vi.waitFor(async () => expect((await imports.get('sam', id)).state).not.toBe('running'))
  expect(await imports.get('sam', id)).toMatchObject({ state: 'completed', failure: null })
})

test('an upload that cannot be stored to its end can be uploaded again, and what is left of it deleted', async () => {
  const { store, open, failBy, heal } = setup()
  const imports = open()
  let isDown = false
  failBy((operation, kind) => {
    if (isDown) return 'before'
    isDown = operation === 'set' && kind === 'import-part'
    return isDown ? 'after' : undefined
  })
  await expect(uploadOnly(imports, FILE)).rejects.toMatchObject({ code: 'store_unavailable' })
  heal()
  const [left] = await imports.list(REF)
  await expect(imports.start('sam', left?.id ?? '')).rejects.toMatchObject({ status: 400 })
  await uploadOnly(imports, FILE)
  await imports.deleteUser('sam')
  expect(await store.ofOwner('sam')).toEqual([])
  expect(await store.ofOwner(left?.id ?? '')).toEqual([])
})

test('an upload whose old imports cannot be deleted is stored all the same', async () => {
  const { open, failBy } = setup()
  const imports = open()
  let lists = 0
  failBy((operation, kind) =>
    operation === 'list' && kind === 'import' && ++lists > 1 ? 'before' : undefined,
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
  const { store, open, failBy, heal } = setup()
  let uploads = 0
  const platform = {
    uploadItems: async () => {
      if (uploads++ > 0) return undefined
      // As after an outage that lasted longer than the turn: its renewal finds that it is gone.
      await store.delete(turnKey('1'))
      await new Promise<void>((renewed) => {
        failBy((operation, kind) => {
          if (operation === 'compareAndSet' && kind === 'catalogue-import') setImmediate(renewed)
          return undefined
        })
      })
      heal()
      return undefined
    },
  }
  const imports = open(platform, 1_500)
  const id = await upload(imports, rowsOf(1_500))
  await imports.start('sam', id)
  expect(await settled(imports, id)).toMatchObject({ state: 'completed' })
  // The first batch was sent again.
  expect(uploads).toBe(3)
})
