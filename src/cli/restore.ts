/** `npm run restore -- FILE`: replaces the embedded store with the entries of a backup, while the app is stopped. */
import '../runtime/env-file.ts'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { openSqlite } from '../connect/stores.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { embeddedStore } from './embedded-store.ts'

async function restore(file: string, store: string): Promise<void> {
  if (!fs.existsSync(file)) throw new Error(`There is no file ${file}. Nothing was changed.`)
  fs.mkdirSync(dirname(store), { recursive: true, mode: 0o700 })
  // The copy is in a folder beside the store, so that it can replace the store in one step.
  const folder = fs.mkdtempSync(join(dirname(store), 'restore-'))
  const copy = join(folder, 'store.sqlite')
  const former = `${store}-before-${new Date().toISOString().replaceAll(':', '-')}`
  const exists = fs.existsSync(store)
  let state = 'nothing was changed'
  try {
    await openSqlite({ file: copy }).close()
    print(`${file} has ${copyEntries(file, copy)} entries.`)
    if (exists) {
      ensureUnused(store)
      fs.linkSync(store, former)
      state = `the former store is also ${former}`
    }
    for (const log of ['-wal', '-shm']) fs.rmSync(store + log, { force: true })
    fs.renameSync(copy, store)
    print('They are now the store.')
    if (exists) print(`The former store is ${former}. Delete it once you no longer need it.`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new Error(`${file} was not restored, and ${state}: ${reason}`)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/**
 * Copies the entries of a backup into a new store in one transaction, and returns their number. It does not copy the backup's
 * tables, triggers and views. Throws if the backup is damaged, or is not a store.
 */
function copyEntries(file: string, copy: string): number | bigint {
  if (fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
    throw new Error(`it is not complete without ${file}-wal. Use a file of npm run backup`)
  const db = new DatabaseSync(copy)
  try {
    // SQLite reads an immutable file without a lock or a log beside it, so its folder need not be writable.
    db.prepare('ATTACH ? AS backup').run(`${pathToFileURL(file)}?immutable=1`)
    const [damage] = Object.values(db.prepare('PRAGMA backup.integrity_check').get() ?? {})
    if (damage !== 'ok') throw new Error(String(damage))
    // Refuse a view or a virtual table, which could run other SQL. Neither has a root page.
    const tables = db.prepare("SELECT 1 FROM backup.sqlite_schema WHERE name = 'entries' AND rootpage > 0")
    if (!tables.get()) throw new Error('it has no table of entries. Use a file of npm run backup')
    const columns = 'kind, owner, id, value, expires_at, place'
    return db.prepare(`INSERT INTO main.entries (${columns}) SELECT ${columns} FROM backup.entries`).run()
      .changes
  } finally {
    db.close()
  }
}

/** Throws if a process has the store open. Accepts a damaged store, because a restore repairs it. */
function ensureUnused(store: string): void {
  const db = new DatabaseSync(store)
  try {
    // Removes the log beside the file. SQLite allows this only if no other process has the file open.
    db.exec('PRAGMA journal_mode = DELETE')
  } catch (error) {
    // SQLITE_CORRUPT and SQLITE_NOTADB (https://sqlite.org/rescode.html).
    if ([11, 26].includes(Object(error).errcode & 0xff)) return
    throw new Error(`${store} is in use. Stop the app, and whatever else has it open`)
  } finally {
    db.close()
  }
}

await createCommand('npm run restore --', 'Replaces the embedded store with the entries of a backup.')
  .argument('<file>', 'the backup')
  .action((file: string) => restore(file, embeddedStore()))
  .parseAsync()
