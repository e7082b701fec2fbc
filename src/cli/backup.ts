/** `npm run backup -- FILE`: copies the embedded store while the app runs. For Redis, use the tools of Redis. */
import '../runtime/env-file.ts'
import { existsSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { embeddedStore } from './embedded-store.ts'

async function copyStore(file: string): Promise<void> {
  const source = embeddedStore()
  if (!existsSync(source)) throw new Error(`DATA_DIR: there is no ${source}.`)
  if (existsSync(file)) throw new Error(`${file} exists already. Name a new file.`)
  // Only this user may read the copy, because its connections are encrypted, but its sessions are not.
  process.umask(0o077)
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
  const pages = await backup(db, file).catch((error: Error) => {
    throw new Error(`${file} cannot be written: ${error.message}`)
  })
  db.close()
  print(`Wrote ${file} (${pages} pages). Keep TOKEN_ENCRYPTION_KEYS in another place: the backup needs them.`)
}

await createCommand('npm run backup --', 'Copies the embedded store to a new file, while the app runs.')
  .argument('<file>', 'the new file')
  .action(copyStore)
  .parseAsync()
