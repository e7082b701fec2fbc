import { createHash } from 'node:crypto'
import { Store as ExpressSessionStore, type SessionData } from 'express-session'
import type { Key, KeyValueStore } from '../connect/store/store.ts'

type Callback<T = void> = (error: unknown, value?: T) => void

/**
 * Sessions of express-session in our own store, used when there is no Redis (with Redis, connect-redis does
 * this). The session id is hashed, so that a copy of the file signs nobody in. Sessions end a fixed time after
 * sign-in, so there is nothing to touch. A class, because express-session asks for one.
 */
export class SqliteSessionStore extends ExpressSessionStore {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    super()
    this.#store = store
  }

  override get(sid: string, callback: Callback<SessionData | null>): void {
    settle(
      this.#store.get(keyOf(sid)).then((value) => (value === null ? null : parse(value))),
      callback,
    )
  }

  override set(sid: string, session: SessionData, callback: Callback = () => {}): void {
    settle(this.#store.set(keyOf(sid), JSON.stringify(session), lifeOf(session)), callback)
  }

  override destroy(sid: string, callback: Callback<boolean> = () => {}): void {
    settle(this.#store.delete(keyOf(sid)), callback)
  }
}

function keyOf(sid: string): Key {
  return { kind: 'session', owner: createHash('sha256').update(sid).digest('base64url'), id: '' }
}

function parse(value: string): SessionData {
  return JSON.parse(value) as SessionData
}

/** How long the session still lives, in ms. */
function lifeOf({ cookie }: SessionData): number {
  const expires = cookie.expires ?? new Date(Date.now() + (cookie.originalMaxAge ?? 0))
  return Math.max(1, new Date(expires).getTime() - Date.now())
}

function settle<T>(work: Promise<T>, callback: Callback<T>): void {
  work.then((value) => callback(null, value), callback)
}
