import * as z from 'zod'
import { apiSettings, generalSettings, storeSettings } from '../../config.ts'
import { createApi, createHttpPools, platform } from '../../connect/index.ts'
import { ready } from '../../connect/stores.ts'
import { withDevelopmentSecrets } from '../../runtime/dev-secrets.ts'
import { createLog } from '../../runtime/log.ts'
import { readSettings } from '../../settings/read.ts'
import { createStore } from '../../web/kit.ts'
import { createFirstPartyAccess } from './access.ts'
import { demoEnv, requireSandbox } from './demo-env.cli.ts'
import { createFirstParty } from './first-party.ts'
import { requiredFirstPartySettings } from './settings.ts'

export type ByApiKey = Awaited<ReturnType<typeof openByApiKey>>

export interface ByApiKeyOptions {
  /** Overrides `PLATFORM_TENANT_ID`; an empty string means no tenant. */
  tenant?: string
  /** Uses the demo's sandbox and its credentials. Throws an error if it does not answer. */
  demo?: boolean
}

/**
 * Opens what a command with an API key needs: the store, the API client and a token source. Throws `ConfigError` and
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
  const credentials = {
    ...settings.credentials,
    tenantId: (tenant ?? settings.credentials.tenantId) || undefined,
  }
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
  const firstParty = createFirstParty({ ...credentials, baseUrl, http: http.tokens })
  const access = createFirstPartyAccess({ store, keys, firstParty, credentials, log })
  return {
    store,
    api: createApi({ platform, baseUrl, http: http.api, uploads: http.uploads }),
    apiUrl: baseUrl,
    source: access,
    /** Identifies the credentials without revealing them. */
    credential: access.id,
    close,
  }
}
