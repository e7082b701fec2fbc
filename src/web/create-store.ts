import { join } from 'node:path'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import type { KeyValueStore } from '../connect/stores.ts'
import { SESSION_MS } from './session.ts'

/** Creates the configured store and a session store on top of it. Adapters are imported on demand. */
export async function createStore(
  { redisUrls, dataDir }: { redisUrls: readonly string[]; dataDir: string },
  log: Logger,
): Promise<{ store: KeyValueStore; sessionStore: SessionStore }> {
  return redisUrls.length === 0 ? createSqliteStore(dataDir) : createRedisStore(redisUrls, log)
}

async function createSqliteStore(dataDir: string) {
  const [{ openSqlite }, { KeyValueSessionStore }] = await Promise.all([
    import('../connect/stores.ts'),
    import('./key-value-session-store.ts'),
  ])
  const store = openSqlite({ file: join(dataDir, 'store.sqlite') })
  return { store, sessionStore: new KeyValueSessionStore(store) }
}

async function createRedisStore(urls: readonly string[], log: Logger) {
  const [{ openRedis }, { RedisStore }] = await Promise.all([
    import('../connect/stores.ts'),
    import('connect-redis'),
  ])
  const logWarnings = async () => {
    for (const warning of await store.warnings().catch(() => [])) log.warn(warning)
  }
  const store: Awaited<ReturnType<typeof openRedis>> = await openRedis({
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
