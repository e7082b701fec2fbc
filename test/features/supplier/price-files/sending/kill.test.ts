import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../../../../src/connect/stores.ts'
import { turnKey } from '../../../../../src/features/supplier/price-files/turns.ts'
import { startImport } from './kill-support.ts'

test('an app killed in mid-import resumes and completes the import after a restart: the same items, none missing', async () => {
  const running = await startImport()
  await running.app.kill()
  // It starts again when the turn of the killed one has expired.
  const store = openSqlite({ file: join(running.dir, 'store.sqlite') })
  const lease = turnKey(running.catalogueId)
  expect(await store.get(lease)).not.toBeNull()
  await store.delete(lease)
  await store.close()
  const again = await running.startAnother()
  await running.expectCompleted(50_000)
  await running.expectReported()
  await again.kill()
  await running.close()
})
