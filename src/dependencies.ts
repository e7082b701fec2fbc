import { setTimeout } from 'node:timers/promises'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { type Connect, createConnect, type KeyValueStore } from './connect/index.ts'
import { createHttpPools, type HttpPools } from './connect/platform/http.ts'
import type { Feature, FeatureContext, FeatureParts } from './features/feature.ts'
import { createStore } from './runtime/create-store.ts'
import type { Operation } from './web/openapi.ts'

/** What the app consists of, created once from the config. */
export interface Dependencies {
  config: Config
  log: Logger
  store: KeyValueStore
  sessionStore: SessionStore
  connect: Connect
  /** What each feature adds, in the order of the list of features. */
  parts: FeatureParts[]
  /** The features' JSON, for `/openapi.json`. */
  operations: Operation[]
  /** What features get to work with. */
  context: FeatureContext
  /** Aborts the context's `shutdownSignal`, which closes long-lived work such as server-sent events. */
  stop(): void
  /** Stops background work, waits for refreshes, at most `graceMs` in all, then closes every connection. */
  close(graceMs?: number): Promise<void>
}

/** How long background work may take to notice that its connections are closed, in ms. */
const LAST_MS = 1_000

/**
 * Throws an error of one line when the embedded store cannot be opened. It does not wait for Redis, which connects in the
 * background.
 */
export async function createDependencies(
  config: Config,
  log: Logger,
  features: readonly Feature[],
  http: HttpPools = createHttpPools(),
): Promise<Dependencies> {
  const { store, sessionStore } = await createStore(config, log)
  const { platform, tokenEncryptionKeys } = config
  const connect = createConnect({ store, keys: tokenEncryptionKeys, platform, log, http })
  const shutdown = new AbortController()
  const parts: FeatureParts[] = []
  const context: FeatureContext = {
    connect,
    http,
    store,
    log,
    baseUrl: config.baseUrl,
    dataDir: config.dataDir,
    encryptionKeys: tokenEncryptionKeys,
    platform,
    shutdownSignal: shutdown.signal,
    sections: (page) =>
      parts.flatMap(({ sections = [] }) => sections).filter((section) => section.page === page),
  }
  for (const feature of features) parts.push(feature.create?.(context, config.features[feature.name]) ?? {})
  return {
    config,
    log,
    store,
    sessionStore,
    connect,
    parts,
    operations: features.flatMap((feature) => feature.operations ?? []),
    context,
    stop: () => shutdown.abort(),
    async close(graceMs = 0) {
      shutdown.abort()
      const deadline = performance.now() + graceMs
      // Features first: their work may still refresh a token.
      const closed = Promise.all(parts.map((part) => part.close?.()))
      await Promise.race([closed, setTimeout(graceMs, undefined, { ref: false })])
      await connect.vault.close(Math.max(0, deadline - performance.now()))
      await http.close()
      // Work that is left ends when it has no connections; it should not find the store closed.
      await Promise.race([closed, setTimeout(LAST_MS, undefined, { ref: false })])
      await store.close()
    },
  }
}
