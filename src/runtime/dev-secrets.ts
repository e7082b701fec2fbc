import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../settings/read.ts'

/** A new SESSION_SECRET and TOKEN_ENCRYPTION_KEYS. */
export function newSecrets() {
  return {
    SESSION_SECRET: randomBytes(32).toString('base64url'),
    TOKEN_ENCRYPTION_KEYS: `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`,
  }
}

/** The environment, completed by the secrets of this machine unless it is production or has its own. */
export function withDevelopmentSecrets(env: Environment): Environment {
  const value = (name: string) => env[name]?.trim() || undefined
  const isDevelopment = ['development', 'test'].includes(value('NODE_ENV') ?? 'development')
  const isComplete = value('SESSION_SECRET') && (value('TOKEN_ENCRYPTION_KEYS') || value('TOKEN_KEYS'))
  if (!isDevelopment || isComplete) return env
  const given = Object.entries(env).filter(([, text]) => text?.trim())
  return { ...developmentSecrets(value('DATA_DIR') ?? '.data'), ...Object.fromEntries(given) }
}

/**
 * Secrets for a developer's machine: created at the first start and kept in `dataDir`, readable by this user only, so
 * that sessions and connections survive a restart. Production reads its secrets from the environment alone.
 * Throws an error of one line that names `DATA_DIR`.
 */
function developmentSecrets(dataDir: string): ReturnType<typeof newSecrets> {
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
    // A link is created atomically, and only once: if several processes start together, one wins.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  // Earlier versions had another name for the encryption keys.
  const { TOKEN_KEYS, ...secrets } = JSON.parse(readFileSync(file, 'utf8'))
  return { ...(TOKEN_KEYS && { TOKEN_ENCRYPTION_KEYS: TOKEN_KEYS }), ...secrets }
}
