import { hash } from 'node:crypto'
import { Store as ExpressSessionStore, type SessionData } from 'express-session'
import type { Key, KeyValueStore } from '../connect/stores.ts'

type Callback<T = void> = (error: unknown, value?: T) => void

/**
 * Session store for express-session on top of `KeyValueStore`. Session ids are hashed, so that a leaked store cannot be used to
 * sign in. There is no `touch`, because sessions expire a fixed time after sign-in.
 */
export class KeyValueSessionStore extends ExpressSessionStore {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    super()
    this.#store = store
  }

  override get(sid: string, callback: Callback<SessionData | null>): void {
    settle(
      this.#store.getCached(keyOf(sid)).then((value) => (value === null ? null : parse(value))),
      callback,
    )
  }

  override set(sid: string, session: SessionData, callback: Callback = () => {}): void {
    settle(this.#store.set(keyOf(sid), JSON.stringify(session), remainingMs(session)), callback)
  }

  override destroy(sid: string, callback: Callback<boolean> = () => {}): void {
    settle(this.#store.delete(keyOf(sid)), callback)
  }
}

function keyOf(sid: string): Key {
  return { kind: 'session', owner: hash('sha256', sid, 'base64url'), id: '' }
}

function parse(value: string): SessionData {
  return JSON.parse(value) as SessionData
}

/** The remaining lifetime of a session, in ms. */
function remainingMs({ cookie }: SessionData): number {
  const expires = cookie.expires ?? new Date(Date.now() + (cookie.originalMaxAge ?? 0))
  return Math.max(1, new Date(expires).getTime() - Date.now())
}

/** Passes the outcome of a promise to a Node-style callback. */
function settle<T>(work: Promise<T>, callback: Callback<T>): void {
  work.then((value) => callback(null, value), callback)
}
