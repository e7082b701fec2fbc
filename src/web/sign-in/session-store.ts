import { hash } from 'node:crypto'
import { type SessionData, Store } from 'express-session'
import { type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { notSignedIn } from '../requests/errors.ts'
import { texts } from '../texts.ts'

/** Lifetime of a session after sign-in, in ms. Saving the session does not change it. */
export const SESSION_MS = 24 * 3_600_000
/** The maximum number of a user's sessions. A further sign-in ends the oldest session. */
const MAX_SESSIONS = 100

/**
 * Keeps sessions in the app's store, for express-session. Only a sign-in creates a session. Later requests can save a session only if
 * it still exists, so an ended session stays ended. A list of sessions under each user's id makes it possible to end them all.
 */
export class SessionStore extends Store {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    super()
    this.#store = store
  }

  /** Creates the session of a user who has just signed in. Throws `StoreUnavailableError`. */
  async create(sid: string, session: Pick<SessionData, 'user'>): Promise<void> {
    await this.#store.set(keyOf(idOf(sid)), JSON.stringify(session), SESSION_MS)
    // The session is listed after it is stored. No browser has its cookie before that.
    const key = listOf(session.user.id)
    for (;;) {
      const list = await this.#store.get(key)
      const ids = [...idsIn(list), idOf(sid)]
      // A session that is not on the list could no longer be ended, so delete it before it leaves the list.
      for (const id of ids.slice(0, -MAX_SESSIONS)) await this.#store.delete(keyOf(id))
      const kept = ids.slice(-MAX_SESSIONS).join(' ')
      if (await this.#store.compareAndSet(key, list, kept, SESSION_MS)) return
    }
  }

  /** Ends all sessions of a user. Throws `StoreUnavailableError`; some sessions may have ended by then. */
  async endAll(userId: string): Promise<void> {
    const key = listOf(userId)
    for (;;) {
      const list = await this.#store.get(key)
      for (const id of idsIn(list)) await this.#store.delete(keyOf(id))
      if (await this.#store.compareAndSet(key, list, null)) return
    }
  }

  override get(sid: string, done: (error: unknown, session?: SessionData | null) => void): void {
    answer(this.#store.getCached(keyOf(idOf(sid))).then(sessionIn), done)
  }

  /** Fails with `unauthenticated` (401) if the session has ended. */
  override set(sid: string, session: SessionData, done?: (error?: unknown) => void): void {
    answer(this.#replace(idOf(sid), JSON.stringify(session)), done)
  }

  override destroy(sid: string, done?: (error?: unknown) => void): void {
    answer(this.#end(idOf(sid)), done)
  }

  async #replace(id: string, text: string): Promise<void> {
    const saved = await update(this.#store, keyOf(id), (stored) => stored && text, 'kept')
    if (saved === null) throw notSignedIn(texts.signIn.notSaved)
  }

  async #end(id: string): Promise<void> {
    const session = sessionIn(await this.#store.get(keyOf(id)))
    if (!session) return
    await this.#store.delete(keyOf(id))
    const others = (list: string | null) =>
      idsIn(list)
        .filter((each) => each !== id)
        .join(' ') || null
    await update(this.#store, listOf(session.user.id), others, SESSION_MS)
  }
}

/** A session is stored under a hash of its id, so that a leaked store can't be used to sign in. */
const idOf = (sid: string) => hash('sha256', sid, 'base64url')
const keyOf = (id: string): Key => ({ kind: 'session', owner: id, id: '' })
const sessionIn = (text: string | null): SessionData | null => JSON.parse(text ?? 'null')

/** The key of the list of a user's session ids, the oldest first. Some sessions may have ended. */
const listOf = (userId: string): Key => ({ kind: 'user-sessions', owner: userId, id: '' })
const idsIn = (list: string | null): string[] => list?.split(' ') ?? []

function answer<T>(work: Promise<T>, done: (error: unknown, value?: T) => void = () => {}): void {
  work.then((value) => done(null, value), done)
}
