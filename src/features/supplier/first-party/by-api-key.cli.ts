import * as z from 'zod'
import { createApi, createHttpPools, platform } from '../../../connect/index.ts'
import { ready } from '../../../connect/stores.ts'
import { createStore } from '../../../runtime/create-store.ts'
import { withDevelopmentSecrets } from '../../../runtime/dev-secrets.ts'
import { createLog } from '../../../runtime/log.ts'
import { apiSettings, generalSettings, storeSettings } from '../../../settings/config.ts'
import { localUrl } from '../../../settings/fields.ts'
import { type Environment, givenOf, readSettings, variablesOf } from '../../../settings/read.ts'
import { createFirstPartyAccess } from './access.ts'
import { requiredFirstPartySettings } from './settings.ts'

export type ByApiKey = Awaited<ReturnType<typeof openByApiKey>>

export interface ByApiKeyOptions {
  /** Overrides `PLATFORM_TENANT_ID`; an empty string means no tenant. */
  tenant?: string
  /** Uses the demo's sandbox and its credentials. Throws an error if the sandbox does not answer. */
  demo?: boolean
}

/**
 * Opens the store, the API client and a token source for a command with an API key. Throws `ConfigError` and
 * `StoreUnavailableError`.
 */
export async function openByApiKey(env: NodeJS.ProcessEnv, { tenant, demo = false }: ByApiKeyOptions = {}) {
  if (demo) await requireSandbox(env)
  const settings = readSettings(withDevelopmentSecrets(demo ? demoEnv(env) : env), (given) =>
    z.object({
      ...generalSettings().shape,
      ...storeSettings(given).shape,
      ...apiSettings(given).shape,
      credentials: requiredFirstPartySettings(given),
    }),
  )
  const { apiUrl: baseUrl, proxies, internalUrls, tokenEncryptionKeys: keys } = settings
  const tenantId = (tenant ?? settings.credentials.tenantId) || undefined
  const log = createLog('silent')
  const { store } = await createStore(settings, log)
  const http = createHttpPools(platform, { proxies, internalUrls })
  const close = async () => {
    await Promise.all([http.close(), store.close()])
  }
  try {
    await ready(store)
  } catch (error) {
    await close()
    throw error
  }
  const credentials = { ...settings.credentials, tenantId, baseUrl, http: http.tokens }
  const access = createFirstPartyAccess({ ...credentials, store, keys, log })
  return {
    store,
    api: createApi({ platform, baseUrl, http: http.api }),
    apiUrl: baseUrl,
    source: access,
    /** Identifies the tenant and the credentials without revealing them. */
    credential: access.id,
    close,
  }
}

/** The address of the demo's sandbox on this machine, from the same variables that `npm run demo` reads. */
function sandboxUrl(env: Environment): string {
  const given = givenOf(env)
  return localUrl(given, given.SANDBOX_PORT ?? 4400)
}

/** The environment of a command with `--demo`: the address of the demo's sandbox, and the well-known API key of its supplier. */
export function demoEnv(env: Environment): Environment {
  const ofSandbox = variablesOf(requiredFirstPartySettings(env)).map(
    ([name, schema]) => [name, z.globalRegistry.get(schema)?.sandbox] as const,
  )
  return { ...env, ...Object.fromEntries(ofSandbox), PLATFORM_API_URL: `${sandboxUrl(env)}/api` }
}

/** If the demo's sandbox does not answer, throws an error that explains what to do. */
async function requireSandbox(env: Environment): Promise<void> {
  const url = sandboxUrl(env)
  const headers = { accept: 'application/json' }
  const answer = await fetch(`${url}/sandbox/faults`, { headers }).catch(() => null)
  await answer?.body?.cancel()
  if (!answer?.ok)
    throw new Error(
      `No sandbox answers at ${url}. Start it with npm run demo. If it uses another port, set SANDBOX_PORT here too.`,
    )
}
