import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { browserUrl, localUrl } from '../settings/fields.ts'
import { type Environment, givenOf } from '../settings/read.ts'

/**
 * Loads `.env`, if it exists, into the environment, whose own values take precedence. The `demo` takes only the ports from it,
 * unless `.env` is for the sandbox, and always keeps separate data. So the sandbox never gets the secrets of another platform, and
 * the demo never changes the data of a product. Returns all names that were read, including those that the environment overrides.
 * Throws a one-line error if the file is in UTF-16.
 */
export function loadEnvFile({ demo }: { demo: boolean }): string[] {
  const { PORT, SANDBOX_PORT, ...rest } = readEnvFile()
  const isForSandbox = Object.keys(missingSandboxEnv({ SANDBOX_PORT, ...rest })).length > 0
  const values = { PORT, SANDBOX_PORT, ...(demo ? withoutStore(isForSandbox ? rest : {}) : rest) }
  if (demo) useDemoData()
  const read = Object.entries(values).filter(([, value]) => value !== undefined)
  for (const [name, value] of read) process.env[name] ??= value
  return read.map(([name]) => name)
}

/** Selects the data of `npm run demo`, unless the environment names a folder. */
export function useDemoData(): void {
  if (!givenOf(process.env).DATA_DIR) process.env.DATA_DIR = '.demo'
}

/** The settings without the location of the data and its encryption keys. */
function withoutStore({ DATA_DIR: _, REDIS_URL: __, TOKEN_ENCRYPTION_KEYS: ___, ...rest }: Environment) {
  return rest
}

function readEnvFile() {
  if (!existsSync('.env')) return {}
  const bytes = readFileSync('.env')
  // PowerShell and Notepad may write UTF-16. A UTF-8 text does not contain this byte.
  if (bytes.includes(0)) throw new Error('.env is in UTF-16: save it as UTF-8')
  // Editors on Windows may begin a file with a byte order mark, which would become part of the first name.
  return parseEnv(bytes.toString('utf8').replace(/^\uFEFF/, ''))
}

/**
 * The variables with which an app uses the sandbox on this machine, at any public address. This file doesn't import the sandbox,
 * because production doesn't contain it.
 */
export function sandboxEnv(env: Environment) {
  const { SANDBOX_PORT: port = 4400, SANDBOX_URL, PLATFORM_INTERNAL_URLS: others, ...given } = givenOf(env)
  const url = SANDBOX_URL?.replace(/\/+$/, '') ?? browserUrl(given, port)
  const internal = `${url}=${localUrl(given, port)}`
  return {
    PLATFORM_APP_URL: url,
    PLATFORM_AUTH_URL: `${url}/auth`,
    PLATFORM_API_URL: `${url}/api`,
    SANDBOX_URL: url,
    PLATFORM_INTERNAL_URLS: others ? `${others},${internal}` : internal,
  }
}

/**
 * Outside production, an app with `SANDBOX_PORT` but without any platform address uses the sandbox at this port. Returns the
 * variables to add.
 */
export function missingSandboxEnv(env: Environment): Partial<ReturnType<typeof sandboxEnv>> {
  const { SANDBOX_PORT: port, NODE_ENV, ...given } = givenOf(env)
  const hasAddress = given.PLATFORM_APP_URL || given.PLATFORM_AUTH_URL || given.PLATFORM_API_URL
  return !port || hasAddress || NODE_ENV === 'production' ? {} : sandboxEnv(env)
}

/**
 * Whether this is not production, and no platform is set except perhaps the sandbox's addresses. If so, commands use the data of
 * `npm run demo`.
 */
export function isForDemo(env: Environment): boolean {
  const given = givenOf(env)
  const { SANDBOX_URL: _, PLATFORM_INTERNAL_URLS: __, ...sandbox } = sandboxEnv(env)
  const isElsewhere = Object.entries(sandbox).some(([name, address]) => (given[name] ?? address) !== address)
  return given.NODE_ENV !== 'production' && !given.PLATFORM_CLIENT_ID && !isElsewhere
}
