import { join } from 'node:path'
import { withDevelopmentSecrets } from '../runtime/dev-secrets.ts'
import { storeSettings } from '../settings/config.ts'
import { readSettings } from '../settings/read.ts'

/** The path of the embedded store, which may not exist. Throws an error if the app uses Redis. */
export function embeddedStore(): string {
  const { redisUrls, dataDir } = readSettings(withDevelopmentSecrets(process.env), storeSettings)
  if (redisUrls.length === 0) return join(dataDir, 'store.sqlite')
  throw new Error(
    'REDIS_URL is set. Back up and restore Redis with its own tools (docs/operations.md, Backup and restore).',
  )
}
