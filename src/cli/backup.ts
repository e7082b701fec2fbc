/** `npm run backup -- FILE`: copies the embedded store while the app runs. For Redis, use the tools of Redis. */
import '../runtime/env-file.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { storeSettings } from '../config.ts'
import { createCommand } from '../runtime/command.ts'
import { withDevelopmentSecrets } from '../runtime/dev-secrets.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { readSettings } from '../settings/read.ts'

const command = createCommand(
  'npm run backup --',
  'Copies the embedded store to a new file, while the app runs.',
)
  .argument('<file>', 'the new file')
  .parse()
const [file = ''] = command.args

try {
  const { redisUrls, dataDir } = readSettings(withDevelopmentSecrets(process.env), storeSettings)
  if (redisUrls.length > 0)
    throw new Error(
      'REDIS_URL is set: back up Redis with its own tools (docs/deploy.md, Backup and restore).',
    )
  const source = join(dataDir, 'store.sqlite')
  if (!existsSync(source)) throw new Error(`DATA_DIR: there is no ${source}.`)
  if (existsSync(file)) throw new Error(`${file} exists already. Name a new file.`)
  // Before anything is written: connections are encrypted, but sessions are not.
  process.umask(0o077)
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
  const pages = await backup(db, file).catch((error: Error) => {
    throw new Error(`${file} cannot be written: ${error.message}`)
  })
  db.close()
  print(`Wrote ${file} (${pages} pages). Keep TOKEN_ENCRYPTION_KEYS in another place: it needs them.`)
} catch (error) {
  fail(error)
}
