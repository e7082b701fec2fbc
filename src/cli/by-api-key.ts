import type { Config } from '../config.ts'
import { createLog } from '../log.ts'
import { type Api, createApi } from '../platform/api.ts'
import { Misconfigured, PlatformError } from '../platform/errors.ts'
import { createFirstParty } from '../platform/first-party.ts'
import { createHttp } from '../platform/http.ts'
import type { TokenSource } from '../platform/token-source.ts'
import { configOf } from '../run-app.ts'
import { openStore, pacing } from '../services.ts'
import { type Store, StoreUnavailable } from '../store/store.ts'
import { createFirstPartyAccess } from '../vault/first-party.ts'
import { ready } from './ready.ts'

export interface ByApiKey {
  config: Config
  store: Store
  api: Api
  /** Paced by the platform's limit. */
  source: TokenSource
  /** Names the credential and tells nothing about it. */
  credential: string
  close(): Promise<void>
}

/**
 * What a command needs that acts by API key: the settings of first-party access, the store, a source of tokens.
 * `tenantId` stands in for `PLATFORM_TENANT_ID`; an empty one for none. Throws `ConfigError`, `StoreUnavailable`.
 */
export async function openByApiKey(env: NodeJS.ProcessEnv, tenantId?: string): Promise<ByApiKey> {
  const config = configOf(env, { firstPartyOnly: true })
  const { firstParty: given, rateLimit, apiUrl: baseUrl } = config.platform
  if (!given) throw new Error('no first-party settings')
  const credentials = { ...given, tenantId: (tenantId ?? given.tenantId) || undefined }
  const log = createLog('silent')
  const { store } = await openStore(config, log)
  const http = createHttp()
  const close = async () => {
    await Promise.all([http.close(), store.close()])
  }
  try {
    await ready(store)
  } catch (error) {
    await close()
    throw error
  }
  const firstParty = createFirstParty({ ...credentials, baseUrl, http })
  const access = createFirstPartyAccess({ store, keys: config.tokenKeys, firstParty, credentials, log })
  return {
    ...{ config, store, api: createApi({ baseUrl, http }), credential: access.id, close },
    source: pacing(store, rateLimit)(access, access.id),
  }
}

/** An error in words for whoever runs a command: what happened and what to do. */
export function explain(error: unknown): string {
  if (error instanceof Misconfigured) {
    return `${capital(error.reason ?? 'the settings are refused')}. Check PLATFORM_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY and the tenant.`
  }
  if (error instanceof PlatformError || error instanceof StoreUnavailable)
    return error.reason ? `${error.message} (${error.reason})` : error.message
  return error instanceof Error ? error.message : String(error)
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
