import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../settings/read.ts'

/** Generates a SESSION_SECRET and TOKEN_ENCRYPTION_KEYS. */
export function newSecrets() {
  return {
    SESSION_SECRET: randomBytes(32).toString('base64url'),
    TOKEN_ENCRYPTION_KEYS: `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`,
  }
}

/** Returns the environment, with generated secrets for development if it has none. Production is left unchanged. */
export function withDevelopmentSecrets(env: Environment): Environment {
  const value = (name: string) => env[name]?.trim() || undefined
  const isDevelopment = ['development', 'test'].includes(value('NODE_ENV') ?? 'development')
  const isComplete = value('SESSION_SECRET') && value('TOKEN_ENCRYPTION_KEYS')
  if (!isDevelopment || isComplete) return env
  const defined = Object.entries(env).filter(([, text]) => text?.trim())
  return { ...developmentSecrets(value('DATA_DIR') ?? '.data'), ...Object.fromEntries(defined) }
}

/**
 * Secrets for development, generated at the first start and stored in `dataDir`, readable only by this user, so that
 * sessions and connections survive restarts. Throws a one-line error that names `DATA_DIR`.
 */
function developmentSecrets(dataDir: string): ReturnType<typeof newSecrets> {
  const file = join(dataDir, 'secrets.json')
  try {
    return createOrRead(dataDir, file)
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Error(`DATA_DIR: ${file}: is not JSON; delete it to get new secrets`)
    throw new Error(`DATA_DIR: ${file}: ${error instanceof Error ? error.message : error}`)
  }
}

function createOrRead(dataDir: string, file: string): ReturnType<typeof newSecrets> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(newSecrets(), null, 2), { mode: 0o600 })
  try {
    // Creating a link is atomic: if several processes start together, only one succeeds.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}
