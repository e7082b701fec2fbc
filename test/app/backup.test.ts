import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
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

const dataDir = () => join(temp.dir, 'data')
const storeFile = () => join(dataDir(), 'store.sqlite')
const run = (script: string, file: string, env: Record<string, string> = {}) =>
  command(script, testEnv({ DATA_DIR: dataDir(), ...env }), { args: [file] })
const backup = (file: string, env?: Record<string, string>) => run('src/cli/backup.ts', file, env)
const restore = (file: string, env?: Record<string, string>) => run('src/cli/restore.ts', file, env)

describe('npm run backup', () => {
  test('does not overwrite a file, and says what to do with Redis', async () => {
    await openSqlite({ file: storeFile() }).close()
    const refused = await backup(storeFile())
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('exists already')
    const redis = await backup(join(temp.dir, 'x'), { REDIS_URL: 'redis://localhost:6379' })
    expect(redis.code).toBe(1)
    expect(redis.output).toContain('Back up and restore Redis with its own tools')
  })
})

describe('npm run restore', () => {
  /** A backup with a connection, and the store, in use, in which another one took its place. */
  async function backedUp() {
    const store = openSqlite({ file: storeFile() })
    onTestFinished(() => store.close())
    const vault = vaultOn(store)
    await consent(vault)
    const copy = join(temp.dir, 'backup.sqlite')
    const { code, output } = await backup(copy)
    expect(code, output).toBe(0)
    await vault.disconnect(REF)
    await consent(vault, {}, LATER)
    return { store, copy }
  }
  /** Whether the store contains the connection of the backup, and the later connection. */
  async function found(file = storeFile()) {
    const store = openSqlite({ file })
    const refs = [REF, LATER]
    const connections = await Promise.all(refs.map((ref) => vaultOn(store).find(ref)))
    await store.close()
    return connections.map((connection) => connection !== null)
  }
  const change = (file: string, sql: string) => {
    const db = new DatabaseSync(file)
    db.exec(sql)
    db.close()
  }
  const WITHOUT_KEY = `CREATE TABLE copied AS SELECT * FROM entries; DROP TABLE entries; ALTER TABLE copied RENAME TO entries`
  const namesIn = (dir: string) =>
    readdirSync(dir).filter((name) => name.startsWith('store') || name.startsWith('restore'))

  test('replaces the store with a backup that was made while the app ran, and keeps the former store', async () => {
    const { store, copy } = await backedUp()
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(readdirSync(temp.dir).filter((name) => name.startsWith('backup'))).toEqual(['backup.sqlite'])
    await store.close()
    const { code, output } = await restore(copy)
    expect(code, output).toBe(0)
    expect(output).toMatch(/backup\.sqlite has \d+ entries\.\nThey are now the store\.\nThe former store is /)
    expect(statSync(storeFile()).mode & 0o777).toBe(0o600)
    const [, former = ''] = /former store is (.*\d\dZ)\./.exec(output) ?? []
    expect([await found(), await found(former)]).toEqual([
      [true, false],
      [false, true],
    ])
  })

  test('copies the entries only, with their order in lists: the key of its table is ours, and a trigger of the backup never runs', async () => {
    const { store, copy } = await backedUp()
    await store.close()
    change(
      copy,
      `${WITHOUT_KEY}; CREATE TRIGGER loses AFTER INSERT ON entries BEGIN DELETE FROM entries; END`,
    )
    expect(await restore(copy)).toMatchObject({ code: 0 })
    const restored = openSqlite({ file: storeFile() })
    onTestFinished(() => restored.close())
    const key = { kind: 'thing', owner: 'ann', id: 'x' }
    await restored.set(key, 'first')
    await restored.set(key, 'second')
    expect(await restored.get(key)).toBe('second')
    expect(await vaultOn(restored).find(REF)).not.toBeNull()
    expect((await vaultOn(restored).page(REF.userId, { skip: 0, top: 9 })).items).toHaveLength(1)
  })

  test('after a process was killed: its log is not replayed over the backup, and the former store has it', async () => {
    const { store, copy } = await backedUp()
    const files = ['', '-wal', '-shm'].map((part) => storeFile() + part)
    const killed = files.map((file) => readFileSync(file))
    await store.close()
    for (const [index, file] of files.entries()) writeFileSync(file, killed[index] ?? '')
    const { output } = await restore(copy)
    const [, former = ''] = /former store is (.*\d\dZ)\./.exec(output) ?? []
    expect([await found(), await found(former)]).toEqual([
      [true, false],
      [false, true],
    ])
  })

  test('refuses while the app has the store open, and the app keeps running', async () => {
    const { store, copy } = await backedUp()
    const { code, output } = await restore(copy)
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/nothing was changed: .* is in use\. Stop the app/),
    ])
    await store.set({ kind: 'thing', owner: 'ann', id: 'x' }, 'written')
    await store.close()
    expect(await found()).toEqual([false, true])
    expect(namesIn(dataDir())).toEqual(['store.sqlite'])
  })

  test('replaces a damaged store, and one that is not there', async () => {
    const { store, copy } = await backedUp()
    await store.close()
    writeFileSync(storeFile(), 'x'.repeat(50_000))
    expect(await restore(copy)).toMatchObject({ code: 0 })
    expect(await found()).toEqual([true, false])
    rmSync(dataDir(), { recursive: true })
    expect((await restore(copy)).output).toMatch(/ entries\.\nThey are now the store\.\n$/)
    expect(await found()).toEqual([true, false])
  })

  test.each<[string, (copy: string) => void, RegExp]>([
    ['is damaged', (copy) => truncateSync(copy, 4096), /malformed/],
    [
      'is another database',
      (copy) => {
        rmSync(copy)
        new DatabaseSync(copy).exec('CREATE TABLE other (id TEXT)')
      },
      /no table of entries/,
    ],
    ['is no database', (copy) => writeFileSync(copy, 'x'.repeat(50_000)), /not a database/],
    [
      'does not exist',
      (copy) => rmSync(copy),
      /^There is no file .*backup\.sqlite\. Nothing was changed\.\n$/,
    ],
    [
      'has a view in place of the table',
      (copy) =>
        change(copy, 'ALTER TABLE entries RENAME TO others; CREATE VIEW entries AS SELECT * FROM others'),
      /no table of entries/,
    ],
    [
      'has an entry twice, in a table without a key',
      (copy) => change(copy, `${WITHOUT_KEY}; INSERT INTO entries SELECT * FROM entries`),
      /UNIQUE constraint/,
    ],
    [
      'has a value that is not text',
      (copy) => change(copy, `${WITHOUT_KEY}; UPDATE entries SET value = x'00'`),
      /cannot store BLOB/,
    ],
    ['is one part of a store', (copy) => writeFileSync(`${copy}-wal`, 'x'), /not complete without/],
  ])('changes nothing if the file %s', async (_what, harm, reason) => {
    const { store, copy } = await backedUp()
    await store.close()
    harm(copy)
    const { code, output } = await restore(copy)
    expect([code, output]).toEqual([1, expect.stringMatching(reason)])
    expect(await found()).toEqual([false, true])
    expect(namesIn(dataDir())).toEqual(['store.sqlite'])
  })

  test('says what to do with Redis', async () => {
    const { output } = await restore(join(temp.dir, 'x'), { REDIS_URL: 'redis://localhost:6379' })
    expect(output).toContain('with its own tools')
  })
})
