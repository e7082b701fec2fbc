import { ready } from '../../cli/ready.ts'
import type { Config } from '../../config.ts'
import { type Api, createApi } from '../../connect/platform/api.ts'
import {
  ConfigurationError,
  InsufficientScopeError,
  NotFoundError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../connect/platform/errors.ts'
import { createHttpPools } from '../../connect/platform/http.ts'
import { rateLimited } from '../../connect/platform/rate-limiter.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import { type Store, StoreUnavailableError } from '../../connect/store/store.ts'
import { createLog } from '../../runtime/log.ts'
import { configOf } from '../../runtime/run-app.ts'
import { openStore } from '../../services.ts'
import { ImportFailedError } from '../price-files/run.ts'
import { createFirstPartyAccess } from './access.ts'
import { createFirstParty } from './first-party.ts'

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
 * `tenantId` stands in for `PLATFORM_TENANT_ID`; an empty one for none. Throws `ConfigError`, `StoreUnavailableError`.
 */
export async function openByApiKey(env: NodeJS.ProcessEnv, tenantId?: string): Promise<ByApiKey> {
  const config = configOf(env, { firstPartyOnly: true })
  const { firstParty: given, rateLimit, apiUrl: baseUrl } = config.platform
  if (!given) throw new Error('no first-party settings')
  const credentials = { ...given, tenantId: (tenantId ?? given.tenantId) || undefined }
  const log = createLog('silent')
  const { store } = await openStore(config, log)
  const http = createHttpPools()
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
  const access = createFirstPartyAccess({ store, keys: config.tokenKeys, firstParty, credentials, log })
  return {
    ...{
      config,
      store,
      api: createApi({ baseUrl, http: http.api, uploads: http.uploads }),
      credential: access.id,
      close,
    },
    source: rateLimited(store, rateLimit)(access, access.id),
  }
}

/** An error in words for whoever runs a command: what happened and what to do. */
export function explain(error: unknown): string {
  if (error instanceof ImportFailedError || error instanceof StoreUnavailableError)
    return withReason(error.message, error.reason)
  if (error instanceof ConfigurationError) {
    const what = error.reason?.includes('paused')
      ? 'the platform refused the settings a moment ago; it is asked again in a few seconds'
      : (error.reason ?? 'the platform refuses the settings')
    return `${capital(what)}. Check PLATFORM_API_URL, PLATFORM_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY and the tenant.`
  }
  if (error instanceof InsufficientScopeError)
    return 'The platform does not permit this for the API key (403). Ask its administrator.'
  if (error instanceof NotFoundError)
    return 'The platform does not know the catalogue or the import any more (404).'
  if (error instanceof PlatformUnavailableError)
    return withReason(
      'The platform does not answer. Nothing is lost: run the same command again later',
      error.reason,
    )
  if (error instanceof PlatformRejectedError)
    return withReason(
      'The platform refuses this. Ask its support, and tell them what it answered',
      error.reason,
    )
  return error instanceof Error ? error.message : String(error)
}

const withReason = (message: string, reason: string | undefined) =>
  reason ? `${message} (${reason})` : message
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
