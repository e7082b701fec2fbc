import { setTimeout } from 'node:timers/promises'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { OnHop } from './connect/express.ts'
import { type Connect, createConnect, createHttpPools, type HttpPools, platform } from './connect/index.ts'
import type { KeyValueStore } from './connect/stores.ts'
import type { FeatureDeps, FeatureParts } from './features/feature.ts'
import type { NamedFeature } from './features/load.ts'
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
  features: readonly NamedFeature[]
  /** What each feature adds, in their order. */
  parts: FeatureParts[]
  /** What features can use. */
  deps: FeatureDeps
  /** What features listen to at each hop of a connect flow, in their order. */
  hopListeners: readonly OnHop[]
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
  features: readonly NamedFeature[],
  http: HttpPools = createHttpPools(platform, { proxies: config.platform.proxies }),
  ownSignIn = config.test ? null : OWN_SIGN_IN,
): Promise<Dependencies> {
  const { store, sessionStore } = await createStore(config, log)
  const { platform: client, tokenEncryptionKeys } = config
  const connect = createConnect({ store, keys: tokenEncryptionKeys, platform, client, log, http })
  const { oidc, baseUrl } = config
  const { scopes } = connect.oauth
  const signInOptions = { oidc, store, baseUrl, encryptionKeys: tokenEncryptionKeys, requestedScopes: scopes }
  const signIn = await createSignIn({ ...signInOptions, http: http.api }, ownSignIn)
  const draining = new AbortController()
  const shutdown = new AbortController()
  const hopListeners: OnHop[] = []
  const deps: FeatureDeps = {
    config,
    connect,
    http,
    store,
    log,
    hasDemoSignIn: signIn.isDemo,
    shutdownSignal: shutdown.signal,
    sendChanges: createChangeStreams(shutdown.signal),
    onHop: (listener) => void hopListeners.push(listener),
  }
  const parts: FeatureParts[] = []
  for (const { name, create } of features) parts.push((await create?.(deps, config.features[name])) ?? {})
  return {
    config,
    log,
    store,
    sessionStore,
    connect,
    http,
    signIn,
    features,
    parts,
    deps,
    hopListeners,
    drainSignal: draining.signal,
    drain: () => draining.abort(),
    stop: () => shutdown.abort(),
    async close(graceMs = 0) {
      shutdown.abort()
      await closeAll({ parts, connect, http, store }, graceMs)
    },
  }
}

async function closeAll(
  { parts, connect, http, store }: Pick<Dependencies, 'parts' | 'connect' | 'http' | 'store'>,
  graceMs: number,
): Promise<void> {
  const deadline = performance.now() + graceMs
  // Close features first: their work may still need to refresh a token.
  const closed = Promise.allSettled(parts.map(async (part) => part.stop?.()))
  await Promise.race([closed, setTimeout(graceMs, undefined, { ref: false })])
  await connect.vault.close(Math.max(0, deadline - performance.now()))
  await http.close()
  // Remaining work fails now that its connections are closed. Let it finish before closing the store.
  await Promise.race([closed, setTimeout(FINAL_GRACE_MS, undefined, { ref: false })])
  await store.close()
}
