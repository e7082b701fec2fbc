import { hash } from 'node:crypto'
import { RedisStore } from 'connect-redis'
import type { Store as SessionStore } from 'express-session'
import type { Key, KeyValueStore } from '../connect/stores.ts'

/**
 * The sessions of express-session: connect-redis on the app's own store, Redis or the SQLite file. Session ids are hashed, so that
 * a leaked store cannot be used to sign in.
 */
export function createSessionStore(store: KeyValueStore): SessionStore {
  const client = {
    get: (sid: string) => store.getCached(keyOf(sid)),
    set: (sid: string, value: string, { expiration }: { expiration: { value: number } }) =>
      store.set(keyOf(sid), value, expiration.value * 1000),
    del: ([sid = '']: string[]) => store.delete(keyOf(sid)),
  }
  const sessions = new RedisStore({ client, prefix: '' })
  // Sessions expire a fixed time after sign-in. With `touch`, even if it does nothing, express-session would send each response in
  // two parts.
  return Object.defineProperty(sessions, 'touch', { value: undefined })
}

const keyOf = (sid: string): Key => ({ kind: 'session', owner: hash('sha256', sid, 'base64url'), id: '' })
