import { join } from 'node:path'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { StoreConfig } from '../config.ts'
import type { KeyValueStore } from '../connect/index.ts'
import { SESSION_MS } from '../web/session.ts'

/** Creates the configured store and a session store on top of it. Adapters are imported on demand. */
export async function createStore(
  { redisUrls, dataDir }: Pick<StoreConfig, 'redisUrls' | 'dataDir'>,
  log: Logger,
): Promise<{ store: KeyValueStore; sessionStore: SessionStore }> {
  return redisUrls.length === 0 ? createSqliteStore(dataDir) : createRedisStore(redisUrls, log)
}

async function createSqliteStore(dataDir: string) {
  const [{ openSqlite }, { SqliteSessionStore }] = await Promise.all([
    import('../connect/store/sqlite.ts'),
    import('../web/sqlite-session-store.ts'),
  ])
  const store = openSqlite({ file: join(dataDir, 'store.sqlite') })
  return { store, sessionStore: new SqliteSessionStore(store) }
}

async function createRedisStore(urls: string[], log: Logger) {
  const [{ openRedis }, { RedisStore }] = await Promise.all([
    import('../connect/store/redis.ts'),
    import('connect-redis'),
  ])
  const logWarnings = async () => {
    for (const warning of await store.warnings().catch(() => [])) log.warn(warning)
  }
  const store = openRedis({
    urls,
    onState(state, reason) {
      if (state === 'lost') log.error({ reason }, `${store.description} is unreachable; retrying`)
      else log.info(`${store.description} is connected`)
      if (state === 'connected') void logWarnings()
    },
  })
  const sessionStore = new RedisStore({
    client: store.sessions,
    prefix: 'connect:session:',
    ttl: SESSION_MS / 1000,
  })
  // Sessions expire a fixed time after sign-in. With `touch`, even if it does nothing, express-session would send each
  // response in two parts.
  return { store, sessionStore: Object.assign(sessionStore, { touch: undefined }) as unknown as SessionStore }
}
