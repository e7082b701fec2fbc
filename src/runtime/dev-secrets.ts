import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fresh SESSION_SECRET and TOKEN_KEYS. */
export function newSecrets() {
  return {
    SESSION_SECRET: randomBytes(32).toString('base64url'),
    TOKEN_KEYS: `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`,
  }
}

/**
 * Secrets for a developer's machine: made at the first start and kept in `dataDir`, readable by this user only, so
 * that sessions and connections outlive a restart. Production takes its secrets from the environment alone.
 * Throws an error of one line that names `DATA_DIR`.
 */
export function developmentSecrets(dataDir: string): ReturnType<typeof newSecrets> {
  const file = join(dataDir, 'secrets.json')
  try {
    return makeOrRead(dataDir, file)
  } catch (error) {
    const why =
      error instanceof SyntaxError ? 'is not JSON; delete it to get new secrets' : (error as Error).message
    throw new Error(`DATA_DIR: ${file}: ${why}`)
  }
}

function makeOrRead(dataDir: string, file: string): ReturnType<typeof newSecrets> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(newSecrets(), null, 2), { mode: 0o600 })
  try {
    // A link appears whole and only once: of several processes that start together, one wins.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}
