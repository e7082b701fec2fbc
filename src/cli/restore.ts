/** `npm run restore -- FILE`: puts a backup in place of the embedded store, while nothing has it open. */
import '../runtime/env-file.ts'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { embeddedStore } from './embedded-store.ts'

const COUNT = 'SELECT count(*) FROM (SELECT kind, owner, id, value, expires_at FROM entries)'

/** Returns the first value of each query. Removes the log beside the file: SQLite allows that only if nothing else has it open. */
function queryAlone(file: string, ...queries: string[]): unknown[] {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    return queries.map((query) => Object.values(db.prepare(query).get() ?? {})[0])
  } finally {
    db.close()
  }
}

function restore(file: string, store: string): void {
  fs.mkdirSync(dirname(store), { recursive: true, mode: 0o700 })
  // The copy is in a folder beside the store, so that it can take the store's place in one step.
  const folder = fs.mkdtempSync(join(dirname(store), 'restore-'))
  const copy = join(folder, 'store.sqlite')
  const former = `${store}-before-${new Date().toISOString().replaceAll(':', '-')}`
  const exists = fs.existsSync(store)
  let state = 'nothing was changed'
  try {
    const records = copyChecked(file, copy)
    if (exists) {
      ensureUnused(store)
      fs.linkSync(store, former)
      state = `the former store is also ${former}`
    }
    for (const log of ['-wal', '-shm']) fs.rmSync(store + log, { force: true })
    fs.renameSync(copy, store)
    print(`Restored ${file}: ${records} records.`)
    if (exists) print(`The former store is ${former}. Delete it once you no longer need it.`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new Error(`${file} was not restored, and ${state}: ${reason}`)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** Copies a backup. Returns the number of its records. Throws if it is not a whole store. */
function copyChecked(file: string, copy: string): unknown {
  if (fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
    throw new Error(`it is not complete without ${file}-wal. Use a file of npm run backup`)
  fs.copyFileSync(file, copy)
  fs.chmodSync(copy, 0o600)
  const [damage, records] = queryAlone(copy, 'PRAGMA integrity_check', COUNT)
  if (damage !== 'ok') throw new Error(String(damage))
  // What was copied must be on the disk before it takes the store's place.
  fs.appendFileSync(copy, '', { flush: true })
  return records
}

/** Throws if a process has the store open. Accepts a damaged store, which is what backups are for. */
function ensureUnused(store: string): void {
  try {
    queryAlone(store)
  } catch (error) {
    // SQLITE_CORRUPT and SQLITE_NOTADB (https://sqlite.org/rescode.html).
    if ([11, 26].includes(Object(error).errcode & 0xff)) return
    throw new Error(`${store} is in use. Stop the app, and whatever else has it open`)
  }
}

await createCommand('npm run restore --', 'Puts a backup in place of the embedded store.')
  .argument('<file>', 'the backup')
  .action((file: string) => restore(file, embeddedStore()))
  .parseAsync()
  .catch(fail)
