import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/connect/stores.ts'
import { createSharedFiles } from '../../../src/features/price-files/shared-files.ts'
import { tempDir } from '../../support/env.ts'

test('a shared file is kept with its content for as long as it was put for, not only while it was written', async () => {
  const { dir, remove } = tempDir()
  let now = Date.now()
  const store = openSqlite({ file: ':memory:', now: () => now })
  const path = join(dir, 'file')
  writeFileSync(path, 'Code,Price\nA,1\n')
  await createSharedFiles(store, 1_000_000).put('job', 'file', path, 86_400_000)
  now += 23 * 3_600_000
  expect(await createSharedFiles(store, 1_000_000).fetch('job', 'file', join(dir, 'copy'))).toBe(true)
  await store.close()
  remove()
})
