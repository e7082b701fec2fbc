import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { generalSettings, storeSettings } from '../settings/config.ts'
import { type Environment, givenOf, readSettings } from '../settings/read.ts'

/** Generates a SESSION_SECRET and TOKEN_ENCRYPTION_KEYS. */
export function newSecrets() {
  return {
    SESSION_SECRET: randomBytes(32).toString('base64url'),
    TOKEN_ENCRYPTION_KEYS: `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`,
  }
}

/** The settings that decide whether there are generated secrets, and where. */
const secretsPlace = (env: Environment) =>
  z.object({
    environment: generalSettings().shape.environment,
    dataDir: storeSettings(env).shape.dataDir,
  })

/**
 * Returns the environment, with generated secrets for development if it has none. Production is left unchanged. Throws a
 * `ConfigError` if `NODE_ENV` or `DATA_DIR` is wrong, because then the secrets would only seem to be missing.
 */
export function withDevelopmentSecrets(env: Environment): Environment {
  const { environment, dataDir } = readSettings(env, secretsPlace)
  const { SESSION_SECRET, TOKEN_ENCRYPTION_KEYS } = givenOf(env)
  if (environment === 'production' || (SESSION_SECRET && TOKEN_ENCRYPTION_KEYS)) return env
  const secrets = developmentSecrets(dataDir)
  return {
    ...env,
    SESSION_SECRET: SESSION_SECRET ?? secrets.SESSION_SECRET,
    TOKEN_ENCRYPTION_KEYS: TOKEN_ENCRYPTION_KEYS ?? secrets.TOKEN_ENCRYPTION_KEYS,
  }
}

/**
 * Secrets for development. The first start generates them and stores them in `dataDir`, readable only by this user, so that
 * sessions and connections survive restarts. Throws a one-line error that names `DATA_DIR`.
 */
function developmentSecrets(dataDir: string): ReturnType<typeof newSecrets> {
  const file = join(dataDir, 'secrets.json')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    if (!existsSync(file))
      writeFileSync(file, JSON.stringify(newSecrets(), null, 2), { mode: 0o600, flag: 'wx' })
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const cure = error instanceof SyntaxError ? ' Delete it to get new secrets.' : ''
    throw new Error(`DATA_DIR: ${file}: ${error instanceof Error ? error.message : error}.${cure}`)
  }
}
