import { hash } from 'node:crypto'
import { join } from 'node:path'
import { RedisStore as RedisSessionStore } from 'connect-redis'
import type { Store as SessionStore } from 'express-session'
import type { Logger } from 'pino'
import { type Key, type KeyValueStore, openRedis, openSqlite, type RedisStore } from '../connect/stores.ts'

/** Creates the configured store and a session store on top of it. */
export async function createStore(
  { redisUrls, dataDir }: { redisUrls: readonly string[]; dataDir: string },
  log: Logger,
): Promise<{ store: KeyValueStore; sessionStore: SessionStore }> {
  const store =
    redisUrls.length === 0
      ? openSqlite({
          file: join(dataDir, 'store.sqlite'),
          onGone: (reason) => log.error({ reason }, 'the store is closed'),
          onRefusal: (reason) => logRefusal(log, 'the store', reason),
        })
      : await createRedisStore(redisUrls, log)
  return { store, sessionStore: createSessionStore(store) }
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

/**
 * Keeps the sessions of express-session in the app's own store, Redis or the SQLite file, by means of connect-redis. Session ids
 * are hashed, so that a leaked store cannot be used to sign in.
 */
function createSessionStore(store: KeyValueStore): SessionStore {
  const client = {
    get: (sid: string) => store.getCached(keyOf(sid)),
    set: (sid: string, value: string, { expiration }: { expiration: { value: number } }) =>
      store.set(keyOf(sid), value, expiration.value * 1000),
    del: ([sid = '']: string[]) => store.delete(keyOf(sid)),
  }
  // Sessions expire a fixed time after sign-in.
  return new RedisSessionStore({ client, prefix: '', disableTouch: true })
}

const keyOf = (sid: string): Key => ({ kind: 'session', owner: hash('sha256', sid, 'base64url'), id: '' })
