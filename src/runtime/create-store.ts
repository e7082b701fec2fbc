import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type KeyValueStore, openRedis, openSqlite, type RedisStore } from '../connect/stores.ts'
import { inRedis, inStore, SessionStore } from '../web/sign-in/session-store.ts'

/** Opens the configured store, which also keeps the sessions, and creates `DATA_DIR`. Throws an error that names `DATA_DIR`. */
export async function createStore(
  { redisUrls, dataDir }: { redisUrls: readonly string[]; dataDir: string },
  log: Logger,
): Promise<{ store: KeyValueStore; sessionStore: SessionStore }> {
  if (redisUrls.length > 0) {
    // `openSqlite` does this too.
    createFolder(dataDir)
    const store = await createRedisStore(redisUrls, log)
    return { store, sessionStore: new SessionStore(inRedis(store, await import('connect-redis')), store) }
  }
  const store = openSqlite({
    file: join(dataDir, 'store.sqlite'),
    onGone: (reason) => log.error({ reason }, 'the store is closed'),
    onRefusal: (reason) => logRefusal(log, 'the store', reason),
  })
  return { store, sessionStore: new SessionStore(inStore(store), store) }
}

/** Features may keep files in `DATA_DIR`, whatever the store is. */
function createFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Error(
      `DATA_DIR: ${dataDir} cannot be created: ${error instanceof Error ? error.message : error}`,
    )
  }
}

function logRefusal(log: Logger, store: string, reason: string | null): void {
  if (reason === null) log.info(`${store} takes writes again`)
  else log.error({ reason }, `${store} refuses writes`)
}

async function createRedisStore(urls: readonly string[], log: Logger): Promise<RedisStore> {
  const logWarnings = async () => {
    for (const warning of await store.warnings().catch(() => [])) log.warn(warning)
  }
  const store = await openRedis({
    urls,
    onState(state, reason) {
      if (state === 'lost') log.error({ reason }, `${store.description} is not available; retrying`)
      else log.info(`${store.description} is connected`)
      if (state === 'connected') void logWarnings()
    },
    onRefusal: (reason) => logRefusal(log, store.description, reason),
  })
  return store
}
