import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createConnect, createHttpPools, type HttpPools, platform } from './connect/index.ts'
import type { NamedFeature } from './features/load.ts'
import { createStore } from './runtime/create-store.ts'
import type { Listening } from './runtime/serve.ts'
import type { Config } from './settings/config.ts'
import type { FeatureDeps, FeatureParts } from './web/feature.ts'
import { createSignIn, OWN_SIGN_IN } from './web/sign-in/sign-in.ts'

/** The app's long-lived objects, created once from the config. */
export type Dependencies = Awaited<ReturnType<typeof createDependencies>>

/** How long to wait after the grace period, in ms: first to store the last tokens, and then for background work to fail. */
const FINAL_GRACE_MS = 1_000

/**
 * Creates the dependencies of the app. Doesn't wait for Redis, which connects in the background. Throws a one-line
 * error if the SQLite store cannot be opened.
 */
export async function createDependencies(
  config: Config,
  log: Logger,
  features: readonly NamedFeature[],
  http: HttpPools = createHttpPools(platform, {
    proxies: config.platform.proxies,
    internalUrls: config.platform.internalUrls,
  }),
  ownSignIn = config.environment === 'test' ? null : OWN_SIGN_IN,
) {
  const { store, sessionStore } = await createStore(config, log)
  const { platform: client, tokenEncryptionKeys: encryptionKeys, oidc, baseUrl, dataDir } = config
  const connect = createConnect({ store, keys: encryptionKeys, platform, client, log, http })
  const { scopes: requestedScopes } = connect.oauth
  const signIn = await createSignIn(
    { oidc, store, baseUrl, dataDir, encryptionKeys, requestedScopes, http: http.api },
    ownSignIn,
  )
  const closing = new AbortController()
  const shutdown = new AbortController()
  const deps: FeatureDeps = {
    config,
    connect,
    http,
    store,
    log,
    signIn,
    shutdownSignal: shutdown.signal,
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
    /** The parts that each feature adds, in the order of the features. */
    parts,
    /** The objects that features can use. */
    deps,
    /** Aborted when the app is about to stop. It still answers all requests then, but `/health/ready` answers 503. */
    closingSignal: closing.signal,
    /**
     * For `shutdownDelayMs`, the app continues, but reports that it is not ready. Then stops `server` and background work, and
     * waits at most `graceMs` for them. Waits for pending token requests, as `Vault.close` does, and then another second for
     * background work. Closes all connections.
     */
    async close({
      shutdownDelayMs = 0,
      graceMs = 0,
      server,
    }: {
      shutdownDelayMs?: number
      graceMs?: number
      server?: Listening
    } = {}) {
      closing.abort()
      await setTimeout(shutdownDelayMs)
      shutdown.abort()
      const deadline = performance.now() + graceMs
      await server?.stop(graceMs)
      const leftMs = () => Math.max(0, deadline - performance.now())
      // Close features first, because their work may still need to refresh a token.
      const closed = Promise.allSettled(parts.map(async (part) => part.stop?.()))
      await Promise.race([closed, setTimeout(leftMs(), undefined, { ref: false })])
      await connect.vault.close(Math.max(leftMs(), FINAL_GRACE_MS))
      await http.close()
      // Remaining work fails now, because its connections are closed. Let it finish before closing the store.
      await Promise.race([closed, setTimeout(FINAL_GRACE_MS, undefined, { ref: false })])
      await store.close()
    },
  }
}
