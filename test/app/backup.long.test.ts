import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { platform, Vault } from '../../src/connect/index.ts'
import { type KeyValueStore, openRedis } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { read } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { ready, startRedis } from '../support/redis.ts'
import { consent, newKey, oauthFor, REF } from '../support/vault.ts'

const KEY = newKey()
const vaultOn = (store: KeyValueStore) =>
  new Vault({ platform, store, keys: [KEY], oauth: oauthFor('http://127.0.0.1:9'), log: createLog('silent') })

test.skipIf(!REDIS)(`a backup of Redis is restored as docs/operations.md says${withRedis}`, async () => {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const redis = await startRedis()
  const store = await ready(await openRedis({ urls: [redis.url] }))
  await consent(vaultOn(store))
  const copy = join(temp.dir, 'backup.rdb')
  const rule = /^(ACL SETUSER backup .*)$/m.exec(read('docs/deploy.md'))?.[1] ?? ''
  execFileSync('redis-cli', ['-u', redis.url, ...rule.split(' ')])
  const backupUrl = redis.url.replace('//', '//backup:PASSWORD@')
  execFileSync('redis-cli', ['-u', backupUrl, '--rdb', copy], { stdio: 'ignore' })
  const other = execFileSync('redis-cli', ['-u', backupUrl, 'keys', '*'], { encoding: 'utf8' })
  expect(other).toContain('NOPERM')
  await store.close()
  await redis.close()

  const folder = join(temp.dir, 'redis')
  mkdirSync(folder)
  copyFileSync(copy, join(folder, 'dump.rdb'))
  const restored = await startRedis('--dir', folder, '--appendonly', 'no')
  execFileSync('redis-cli', ['-u', restored.url, 'config', 'set', 'appendonly', 'yes'], { stdio: 'ignore' })
  await expect.poll(() => existsSync(join(folder, 'appendonlydir', 'appendonly.aof.manifest'))).toBe(true)
  await expect
    .poll(() => execFileSync('redis-cli', ['-u', restored.url, 'info', 'persistence']).toString())
    .toContain('aof_rewrite_in_progress:0')
  await restored.kill()
  // Later starts read the append-only files, as usual.
  const usual = await startRedis('--dir', folder)
  const again = await ready(await openRedis({ urls: [usual.url] }))
  expect(await vaultOn(again).accessToken(REF)).toBe('access-0')
  await again.close()
  await usual.close()
  await restored.close()
})
