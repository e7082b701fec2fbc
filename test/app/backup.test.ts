import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { platform, Vault } from '../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { command } from '../support/process.ts'
import { consent, newKey, oauthFor, REF } from '../support/vault.ts'

const KEY = newKey()
const NOWHERE = 'http://127.0.0.1:9'
const LATER = { userId: 'bob', bxcontext: 'ctx' }
const vaultOn = (store: KeyValueStore) =>
  new Vault({ platform, store, keys: [KEY], oauth: oauthFor(NOWHERE), log: createLog('silent') })

let temp: ReturnType<typeof tempDir>
beforeEach(() => {
  temp = tempDir()
})
afterEach(() => temp.remove())

describe('npm run backup', () => {
  const backup = (file: string, env: Record<string, string> = {}) =>
    command('src/cli/backup.ts', testEnv({ DATA_DIR: join(temp.dir, 'data'), ...env }), { args: [file] })

  test('copies the embedded store while the app uses it, and the copy can be restored', async () => {
    const data = join(temp.dir, 'data')
    const store = openSqlite({ file: join(data, 'store.sqlite') })
    const vault = vaultOn(store)
    await consent(vault)
    const copy = join(temp.dir, 'backup.sqlite')
    const { code, output } = await backup(copy)
    expect(code, output).toBe(0)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readdirSync(temp.dir).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite'])
    await vault.disconnect(REF)
    await consent(vault, {}, LATER)
    await store.close()

    // As in docs/deploy.md.
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(data, `store.sqlite${suffix}`), { force: true })
    copyFileSync(copy, join(data, 'store.sqlite'))
    const restored = openSqlite({ file: join(data, 'store.sqlite') })
    expect(await vaultOn(restored).accessToken(REF)).toBe('access-0')
    expect(await vaultOn(restored).find(LATER)).toBeNull()
    await restored.close()
  })

  test('does not overwrite a file, and says what to do with Redis', async () => {
    mkdirSync(join(temp.dir, 'data'))
    const file = join(temp.dir, 'data', 'store.sqlite')
    await openSqlite({ file }).close()
    const refused = await backup(file)
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('exists already')
    const redis = await backup(join(temp.dir, 'x'), { REDIS_URL: 'redis://localhost:6379' })
    expect(redis.code).toBe(1)
    expect(redis.output).toContain('back up Redis with its own tools')
  })
})
