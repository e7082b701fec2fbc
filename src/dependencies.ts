import { setTimeout } from 'node:timers/promises'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type Connect, createConnect, createHttpPools, type HttpPools, platform } from './connect/index.ts'
import type { KeyValueStore } from './connect/stores.ts'
import type { Feature, FeatureContext, FeatureParts } from './features/feature.ts'
import { createStore } from './web/create-store.ts'
import { createSignIn, OWN_SIGN_IN, type SignIn } from './web/sign-in.ts'
import { createChangeStreams } from './web/sse.ts'

/** The app's long-lived objects, created once from the config. */
export interface Dependencies {
  config: Config
  log: Logger
  store: KeyValueStore
  sessionStore: SessionStore
  connect: Connect
  http: HttpPools
  signIn: SignIn
  /** The parts added by each feature, in the order of the list of features. */
  parts: FeatureParts[]
  /** The context passed to features. */
  context: FeatureContext
  /** Aborted when the app is about to stop: it still answers everything, and says that it is not ready. */
  drainSignal: AbortSignal
  /** Aborts `drainSignal`. */
  drain(): void
  /** Aborts `shutdownSignal`, which closes long-lived work such as server-sent events. */
  stop(): void
  /**
   * Stops background work, waits at most `graceMs` (0 by default) for it and for refreshes, then closes all
   * connections.
   */
  close(graceMs?: number): Promise<void>
}

/** Time for background work to fail after its connections are closed, in ms. */
const FINAL_GRACE_MS = 1_000

/**
 * Creates the dependencies of the app. Doesn't wait for Redis, which connects in the background. Throws a one-line
 * error if the SQLite store cannot be opened or the sign-in is incomplete.
 */
export async function createDependencies(
  config: Config,
  log: Logger,
  features: readonly Feature[],
  http: HttpPools = createHttpPools(platform, { proxies: config.platform.proxies }),
  ownSignIn = config.test ? null : OWN_SIGN_IN,
): Promise<Dependencies> {
  const { store, sessionStore } = await createStore(config, log)
  const { platform: client, tokenEncryptionKeys } = config
  // Features do not need the client secret.
  const { authUrl, apiUrl, clientId, pkce } = client
  const connect = createConnect({ store, keys: tokenEncryptionKeys, platform, client, log, http })
  const { oidc, baseUrl } = config
  const { scopes } = connect.oauth
  const signInOptions = { oidc, store, baseUrl, encryptionKeys: tokenEncryptionKeys, requestedScopes: scopes }
  const signIn = createSignIn({ ...signInOptions, http: http.api }, ownSignIn)
  const draining = new AbortController()
  const shutdown = new AbortController()
  const parts: FeatureParts[] = []
  const context: FeatureContext = {
    connect,
    http,
    store,
    log,
    production: config.production,
    baseUrl,
    demoSignIn: signIn.isDemo,
    trustProxy: config.trustProxy,
    dataDir: config.dataDir,
    encryptionKeys: tokenEncryptionKeys,
    platform: { authUrl, apiUrl, clientId, pkce },
    sandboxUrl: client.sandboxUrl,
    shutdownSignal: shutdown.signal,
    sendChanges: createChangeStreams(shutdown.signal),
    doctorOptions: { config, store, features },
    // Loaded on demand: most processes never need them.
    loadContracts: async () => (await import('./features/contracts.ts')).loadContracts(),
    ...ofAll(parts),
  }
  for (const feature of features)
    parts.push((await feature.create?.(context, config.features[feature.name])) ?? {})
  return {
    config,
    log,
    store,
    sessionStore,
    connect,
    http,
    signIn,
    parts,
    context,
    drainSignal: draining.signal,
    drain: () => draining.abort(),
    stop: () => shutdown.abort(),
    async close(graceMs = 0) {
      shutdown.abort()
      await closeAll({ parts, connect, http, store }, graceMs)
    },
  }
}

/** What features get from each other; called when all parts are there. */
const ofAll = (
  parts: FeatureParts[],
): Pick<FeatureContext, 'sections' | 'flush' | 'connectionTests' | 'gauges'> => ({
  sections: (page) =>
    parts.flatMap(({ sections = [] }) => sections).filter((section) => section.page === page),
  flush: async () => {
    await Promise.all(parts.map(async (part) => part.flush?.()))
  },
  connectionTests: () => parts.flatMap((part) => part.connectionTest ?? []),
  gauges: async () => (await Promise.all(parts.map(async (part) => (await part.gauges?.()) ?? []))).flat(),
})

async function closeAll(
  { parts, connect, http, store }: Pick<Dependencies, 'parts' | 'connect' | 'http' | 'store'>,
  graceMs: number,
): Promise<void> {
  const deadline = performance.now() + graceMs
  // Close features first: their work may still need to refresh a token.
  const closed = Promise.allSettled(parts.map(async (part) => part.close?.()))
  await Promise.race([closed, setTimeout(graceMs, undefined, { ref: false })])
  await connect.vault.close(Math.max(0, deadline - performance.now()))
  await http.close()
  // Remaining work fails now that its connections are closed. Let it finish before closing the store.
  await Promise.race([closed, setTimeout(FINAL_GRACE_MS, undefined, { ref: false })])
  await store.close()
}
