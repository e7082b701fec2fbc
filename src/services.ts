import { join } from 'node:path'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { AuthorizationRequests } from './connect/authorization/authorization-requests.ts'
import { createConnect } from './connect/index.ts'
import { createHttpPools, type HttpPools } from './connect/platform/http.ts'
import type { OAuth } from './connect/platform/oauth.ts'
import type { Store } from './connect/store/store.ts'
import type { Vault } from './connect/vault/vault.ts'
import { type BuilderRequests, createBuilderRequests } from './features/builder-requests/builder-requests.ts'
import { createPending, type Pending } from './features/builder-requests/pending.ts'
import { createEvents, type Events } from './features/builder-requests/webhook-events.ts'
import { type AccessControls, createAccessControls } from './features/catalogues/access-controls.ts'
import { type Catalogues, createCatalogues } from './features/catalogues/catalogues.ts'
import { createLeads, type Leads } from './features/leads/leads.ts'
import type { Client } from './features/live-pricing/clients.ts'
import { openPriceLists, type PriceLists } from './features/live-pricing/embedded/price-lists.ts'
import { createImports, type Imports } from './features/price-files/import-service.ts'
import { SESSION_MS } from './web/session.ts'

/** Everything the pages work with, built once from the config. */
export interface Services {
  config: Config
  log: Logger
  store: Store
  sessionStore: SessionStore
  oauth: OAuth
  vault: Vault
  authorizationRequests: AuthorizationRequests
  leads: Leads
  catalogues: Catalogues
  builderRequests: BuilderRequests
  accessControls: AccessControls
  imports: Imports
  events: Events
  pending: Pending
  livePricing: LivePricingBase[]
  /** Aborted on shutdown, to close long-lived work such as server-sent events. */
  stopping: AbortSignal
  stop(): void
  /** Lets refreshes finish, at most `graceMs`, then closes connections. */
  close(graceMs?: number): Promise<void>
}

/** Throws an error of one line when the embedded store cannot be opened; a Redis is waited for in the background. */
export async function createServices(
  config: Config,
  log: Logger,
  http: HttpPools = createHttpPools(),
): Promise<Services> {
  const { store, sessionStore } = await openStore(config, log)
  const connect = createConnect({ store, keys: config.tokenKeys, platform: config.platform, log, http })
  const { api, oauth, vault, authorizationRequests, pacedSource } = connect
  const source = (userId: string, context: string) => vault.tokenSource(userId, context)
  const catalogues = createCatalogues(api)
  const builderRequests = createBuilderRequests(api)
  const imports = createImports({
    ...{ store, catalogues, log, dir: join(config.dataDir, 'imports') },
    ...{ maxBytes: config.maxPriceFileBytes, quotaBytes: config.uploadQuotaBytes },
    source: pacedSource,
  })
  const livePricing = livePricingBases(config, log)
  const stopping = new AbortController()
  return {
    ...{ config, log, store, sessionStore, oauth, vault, catalogues, builderRequests, imports },
    authorizationRequests,
    leads: createLeads(api),
    accessControls: createAccessControls(api),
    events: createEvents(store),
    pending: createPending({ store, builderRequests, source, pacedSource }),
    livePricing,
    stopping: stopping.signal,
    stop: () => stopping.abort(),
    async close(graceMs = 0) {
      stopping.abort()
      const imported = Promise.race([
        imports.close(),
        new Promise((resolve) => setTimeout(resolve, graceMs).unref()),
      ])
      const ends = performance.now() + graceMs
      // Imports first: they may still refresh a token.
      await imported
      await vault.close(Math.max(0, ends - performance.now()))
      await http.close()
      // Without connections, what is left of the imports ends at once; it should not find the store closed.
      await Promise.race([imports.close(), new Promise((resolve) => setTimeout(resolve, LAST_MS))])
      await store.close()
      for (const { book } of livePricing) book.close()
    },
  }
}

/** One `{supplier_base_url}`: staging and production have their own callers and their own prices. */
export interface LivePricingBase {
  path: string
  baseUrl: string
  clients: Client[]
  book: PriceLists
}

/** Where `load-prices` puts price lists, and the app looks for them. */
export const PRICE_LISTS = { production: 'price-lists', staging: 'price-lists-staging' } as const
const BASES = { production: '/live-pricing', staging: '/live-pricing-staging' } as const

/** The bases that have callers. Replace `openPriceLists` to put your own `PriceBook` behind them. */
export function livePricingBases({ baseUrl, dataDir, livePricing }: Config, log: Logger): LivePricingBase[] {
  const environments = ['production', 'staging'] as const
  return environments
    .filter((environment) => livePricing.clients[environment].length > 0)
    .map((environment) => {
      const [path, folder] = [BASES[environment], join(dataDir, PRICE_LISTS[environment])]
      const book = openPriceLists(folder, log)
      if (!book.loaded())
        log.warn({ folder }, `${path} has no price list yet: npm run load-prices -- FOLDER makes one`)
      return { path, baseUrl: baseUrl + path, clients: livePricing.clients[environment], book }
    })
}

/** What ends by itself may still take this long, in ms. */
const LAST_MS = 1_000

/** The store of the config, and sessions in it. Each adapter is loaded only where it is used. */
export async function openStore(config: Pick<Config, 'redisUrls' | 'dataDir'>, log: Logger) {
  if (config.redisUrls.length === 0) {
    const [{ openSqlite }, { EmbeddedSessions }] = await Promise.all([
      import('./connect/store/sqlite.ts'),
      import('./web/sqlite-sessions.ts'),
    ])
    const store: Store = openSqlite({ file: join(config.dataDir, 'store.sqlite') })
    return { store, sessionStore: new EmbeddedSessions(store) as SessionStore }
  }
  const [{ openRedis }, { RedisStore }] = await Promise.all([
    import('./connect/store/redis.ts'),
    import('connect-redis'),
  ])
  const store = openRedis({
    urls: config.redisUrls,
    onState(state, reason) {
      if (state === 'lost')
        log.error({ reason }, `${store.description} is not reachable; trying again until it is`)
      else log.info(`${store.description} is connected`)
      if (state === 'connected') void warn()
    },
  })
  const warn = async () => {
    for (const warning of await store.warnings().catch(() => [])) log.warn(warning)
  }
  const sessionStore = new RedisStore({
    client: store.sessions,
    prefix: 'connect:session:',
    ttl: SESSION_MS / 1000,
    disableTouch: true,
  })
  return { store: store as Store, sessionStore: sessionStore as SessionStore }
}
