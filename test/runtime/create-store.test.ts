import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStore } from '../../src/runtime/create-store.ts'
import { createLog } from '../../src/runtime/log.ts'
import { tempDir } from '../support/env.ts'

/** An address without a server, because the app connects to Redis in the background. */
const redisUrls = ['redis://127.0.0.1:9']

let temp: ReturnType<typeof tempDir>
beforeEach(() => {
  temp = tempDir()
})
afterEach(() => temp.remove())

test('with Redis too, the app creates DATA_DIR for its own user only, so that features can keep files there', async () => {
  const dataDir = join(temp.dir, 'new', 'data')
  const { store } = await createStore({ redisUrls, dataDir }, createLog('silent'))
  await store.close()
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
})

test('the error names DATA_DIR and the folder if the app cannot create it', async () => {
  writeFileSync(join(temp.dir, 'file'), '')
  const dataDir = join(temp.dir, 'file', 'data')
  await expect(createStore({ redisUrls, dataDir }, createLog('silent'))).rejects.toThrow(
    `DATA_DIR: ${dataDir} cannot be created: ENOTDIR`,
  )
})
