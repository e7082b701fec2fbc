import { join } from 'node:path'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import { type KeyValueStore, openRedis, openSqlite, type RedisStore } from '../connect/stores.ts'
import { createSessionStore } from './session-store.ts'

/** Creates the configured store and a session store on top of it. */
export async function createStore(
  { redisUrls, dataDir }: { redisUrls: readonly string[]; dataDir: string },
  log: Logger,
): Promise<{ store: KeyValueStore; sessionStore: SessionStore }> {
  const store =
    redisUrls.length === 0
      ? openSqlite({ file: join(dataDir, 'store.sqlite') })
      : await createRedisStore(redisUrls, log)
  return { store, sessionStore: createSessionStore(store) }
}

async function createRedisStore(urls: readonly string[], log: Logger): Promise<RedisStore> {
  const logWarnings = async () => {
    for (const warning of await store.warnings().catch(() => [])) log.warn(warning)
  }
  const store = await openRedis({
    urls,
    onState(state, reason) {
      if (state === 'lost') log.error({ reason }, `${store.description} is unreachable; retrying`)
      else log.info(`${store.description} is connected`)
      if (state === 'connected') void logWarnings()
    },
  })
  return store
}
