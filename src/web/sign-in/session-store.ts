/**
 * Stores sessions. Only a sign-in creates a session. Later requests can save a session only if it still exists, so an ended session
 * stays ended. A list of sessions under each user's id makes it possible to end them all.
 */
import { hash } from 'node:crypto'
import type { RedisStore as ConnectRedis } from 'connect-redis'
import { type SessionData, Store } from 'express-session'
import { type Key, type KeyValueStore, type RedisStore, update } from '../../connect/stores.ts'
import { notSignedIn } from '../requests/errors.ts'
import { texts } from '../texts.ts'

declare module 'express-session' {
  interface SessionData {
    /** When the session ends, in ms since 1970. Saving the session does not change this time. */
    endsAt: number
  }
}

/** Lifetime of a session after sign-in, in ms. */
export const SESSION_MS = 24 * 3_600_000
/** The maximum number of a user's sessions. A further sign-in ends the oldest session. */
const MAX_SESSIONS = 100

/** Stores sessions under a hash of their ids, so that a leaked store can't be used to sign in. */
interface SessionValues {
  get(id: string): Promise<SessionData | null>
  create(id: string, session: SessionData): Promise<unknown>
  /** If there is no such session, resolves to false without writing. */
  replace(id: string, session: SessionData): Promise<boolean>
  delete(id: string): Promise<unknown>
}

/** Sessions in Redis, with connect-redis. */
export function inRedis({ client }: RedisStore, { RedisStore }: { RedisStore: typeof ConnectRedis }) {
  const prefix = 'connect:session:'
  // Sessions end a fixed time after the sign-in.
  const sessions = new RedisStore({ client, prefix, disableTouch: true })
  return {
    get: (id) => sessions.get(id),
    create: (id, session) => sessions.set(id, session),
    async replace(id, session) {
      const text = sessions.serializer.stringify(session)
      return (await client.set(prefix + id, text, { expiration: 'KEEPTTL', condition: 'XX' })) !== null
    },
    delete: (id) => sessions.destroy(id),
  } satisfies SessionValues
}

/** Sessions in the embedded store. */
export function inStore(store: KeyValueStore): SessionValues {
  const keyOf = (id: string): Key => ({ kind: 'session', owner: id, id: '' })
  return {
    get: async (id) => JSON.parse((await store.getCached(keyOf(id))) ?? 'null'),
    create: (id, session) => store.set(keyOf(id), JSON.stringify(session), SESSION_MS),
    async replace(id, session) {
      const text = JSON.stringify(session)
      const leftMs = session.endsAt - Date.now()
      return (await update(store, keyOf(id), (stored) => stored && text, leftMs)) !== null
    },
    delete: (id) => store.delete(keyOf(id)),
  }
}

/** The session store of express-session, for all users. */
export class SessionStore extends Store {
  readonly #values: SessionValues
  readonly #store: KeyValueStore
  /** The ids of sessions that are being created. */
  readonly #beginning = new Set<string>()

  constructor(values: SessionValues, store: KeyValueStore) {
    super()
    this.#values = values
    this.#store = store
  }

  /** Creates the session of a user who has just signed in. `save` saves it. Throws `StoreUnavailableError`. */
  async begin(sid: string, userId: string, save: () => Promise<void>): Promise<void> {
    this.#beginning.add(sid)
    await save().finally(() => this.#beginning.delete(sid))
    // The session is listed after it is stored. No browser has its cookie before that.
    const key = listOf(userId)
    for (;;) {
      const list = await this.#store.get(key)
      const ids = [...idsIn(list), idOf(sid)]
      // A session that is not on the list could no longer be ended, so delete it before it leaves the list.
      for (const id of ids.slice(0, -MAX_SESSIONS)) await this.#values.delete(id)
      const kept = ids.slice(-MAX_SESSIONS).join(' ')
      if (await this.#store.compareAndSet(key, list, kept, SESSION_MS)) return
    }
  }

  /** Ends all sessions of a user. Throws `StoreUnavailableError`; some sessions may have ended by then. */
  async endAll(userId: string): Promise<void> {
    const key = listOf(userId)
    for (;;) {
      const list = await this.#store.get(key)
      for (const id of idsIn(list)) await this.#values.delete(id)
      if (await this.#store.compareAndSet(key, list, null)) return
    }
  }

  override get(sid: string, done: (error: unknown, session?: SessionData | null) => void): void {
    answer(this.#values.get(idOf(sid)), done)
  }

  /** Fails with `unauthenticated` (401) if the session has ended. */
  override set(sid: string, session: SessionData, done?: (error?: unknown) => void): void {
    answer(this.#save(sid, session), done)
  }

  override destroy(sid: string, done?: (error?: unknown) => void): void {
    answer(this.#end(idOf(sid)), done)
  }

  async #save(sid: string, session: SessionData): Promise<void> {
    const id = idOf(sid)
    if (this.#beginning.has(sid)) await this.#values.create(id, session)
    else if (!(await this.#values.replace(id, session))) throw notSignedIn(texts.signIn.notSaved)
  }

  async #end(id: string): Promise<void> {
    const session = await this.#values.get(id)
    if (!session) return
    await this.#values.delete(id)
    const others = (list: string | null) =>
      idsIn(list)
        .filter((each) => each !== id)
        .join(' ') || null
    await update(this.#store, listOf(session.user.id), others, SESSION_MS)
  }
}

const idOf = (sid: string) => hash('sha256', sid, 'base64url')

/** The key of the list of a user's session ids, the oldest first. Some sessions may have ended. */
const listOf = (userId: string): Key => ({ kind: 'user-sessions', owner: userId, id: '' })
const idsIn = (list: string | null): string[] => list?.split(' ') ?? []

function answer<T>(work: Promise<T>, done: (error: unknown, value?: T) => void = () => {}): void {
  work.then((value) => done(null, value), done)
}
