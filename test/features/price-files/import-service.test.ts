import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PlatformUnavailableError } from '../../../src/connect/errors.ts'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import type { Imports } from '../../../src/features/price-files/imports.ts'
import { turnKey } from '../../../src/features/price-files/turn.ts'
import { tempDir } from '../../support/env.ts'
import { keyOf, rowsOf } from './pages-support.ts'
import { openImports, REF, send, settled, upload, uploadOnly } from './service-support.ts'

let dir: ReturnType<typeof tempDir>
let store: KeyValueStore
let opened: Imports[]
beforeEach(() => {
  dir = tempDir()
  store = openSqlite({ file: ':memory:' })
  opened = []
})
afterEach(async () => {
  await Promise.all(opened.map((imports) => imports.sender.close()))
  await store.close()
  dir.remove()
})

function open(platform: Partial<CatalogueImports> = {}): Imports {
  const imports = openImports(store, `${dir.dir}/imports`, platform)
  opened.push(imports)
  return imports
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
  const id = await upload(imports, rowsOf(10))
  expect(await send(imports, id)).toMatchObject({ state: 'stopped', failure: null })
  expect(await send(imports, id)).toMatchObject({ state: 'completed', failure: null })
})

test('an import whose process has died is taken over by another one, which goes on after the last accepted batch', async () => {
  const uploads: string[] = []
  const stalled = Promise.withResolvers<undefined>()
  const hanging = open({
    uploadItems: () => {
      uploads.push('first')
      return uploads.length === 1 ? Promise.resolve(undefined) : stalled.promise
    },
  })
  const id = await upload(hanging, rowsOf(2_500))
  await hanging.start('sam', id)
  await vi.waitFor(() => expect(uploads).toEqual(['first', 'first']))
  // As a killed process leaves it: without an end, and with a lease that has expired.
  await store.delete(turnKey('1'))
  const other = open({
    uploadItems: async () => void uploads.push('other'),
    get: async () => ({ status: uploads.length < 4 ? 'Started' : 'Completed' }),
  })
  expect(await settled(other, id)).toMatchObject({
    state: 'completed',
    progress: { sent: 2_500, batches: 3 },
  })
  stalled.resolve(undefined)
  // The first process, which is not really dead here, may have begun another one.
  expect(uploads.filter((by) => by === 'other')).toHaveLength(2)
})

test('a user has at most five uploads at once, and others go on', async () => {
  const imports = open()
  const stalled = Promise.withResolvers<void>()
  async function* bytes() {
    await stalled.promise
    yield Buffer.from(rowsOf(1))
  }
  const to = { catalogue: { id: '1' }, fileName: 'prices.csv' }
  const five = Array.from({ length: 5 }, () => imports.upload(REF, to, bytes()))
  await expect(uploadOnly(imports, rowsOf(1))).rejects.toMatchObject({ status: 409, code: 'conflict' })
  expect(await uploadOnly(imports, rowsOf(1), 'alex')).toEqual(expect.any(String))
  stalled.resolve()
  expect(await Promise.all(five)).toHaveLength(5)
})

test('nothing is sent before a person has confirmed how the file is read, by whatever state it is in', async () => {
  const uploads: unknown[] = []
  const imports = open({ uploadItems: async (...call) => void uploads.push(call) })
  const id = await uploadOnly(imports, rowsOf(3))
  await expect(imports.start('sam', id)).rejects.toMatchObject({ status: 400 })
  const job = await imports.get('sam', id)
  for (const state of ['failed', 'stopped']) {
    await store.set(keyOf(id), JSON.stringify({ ...job, state }))
    await expect(imports.start('sam', id)).rejects.toMatchObject({ status: 400 })
  }
  expect(uploads).toEqual([])
})

test('an import that runs does not delay a shutdown, and the next process goes on with it', async () => {
  let isDown = true
  const platform = {
    uploadItems: async () => {
      if (isDown) throw new PlatformUnavailableError('error', 'the API answered 500', 100_000)
      return undefined
    },
  }
  const [one, next] = [open(platform), open(platform)]
  const id = await upload(one, rowsOf(3_000))
  await one.start('sam', id)
  await vi.waitFor(
    async () => expect((await one.get('sam', id)).progress?.waiting ?? '').toContain('returned an error'),
    { timeout: 60_000 },
  )
  await one.sender.close()
  expect(await next.get('sam', id)).toMatchObject({ state: 'running' })
  isDown = false
  expect(await settled(next, id)).toMatchObject({ state: 'completed', progress: { sent: 3_000 } })
})

test('what a killed process left in the folder is deleted', async () => {
  const orphan = join(dir.dir, 'imports', 'check-killed')
  mkdirSync(orphan, { recursive: true })
  utimesSync(orphan, 0, 0)
  await uploadOnly(open(), rowsOf(1))
  expect(existsSync(orphan)).toBe(false)
})
