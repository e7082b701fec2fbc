import { hash } from 'node:crypto'
import type { Request } from 'express'
import * as z from 'zod'
import { parseJson } from '../connect/index.ts'
import { type Key, type KeyValueStore, update } from '../connect/stores.ts'
import { type Notice, noticeSchema } from './respond.ts'
import { currentUser } from './user.ts'

const userNoticesSchema = z.array(noticeSchema.extend({ id: z.string() }))
/** A notice about work in the background. `id` identifies the work. */
export type UserNotice = z.infer<typeof userNoticesSchema>[number]

declare module 'express-serve-static-core' {
  interface Request {
    /** Stores a notice for the next page of this session. Notices never come from a URL, which could be forged. */
    leaveNotice(notice: Notice): Promise<void>
    /** Returns and deletes the notices that wait for the signed-in user; without `ofAction`, only those for the user. */
    takeNotices(options: { ofAction: boolean }): Promise<Notice[]>
  }
}

/** Lifetime of the notice of an action, in ms. */
const NOTICE_MS = 60_000
/** Lifetime of the notices for a user, in ms: a supplier may come back after the weekend. */
const USER_NOTICES_MS = 7 * 86_400_000
const MAX_USER_NOTICES = 5

/**
 * Gives a request its notices. They are stored separately from sessions: writing the session would extend its lifetime, and
 * could restore it after a sign-out. If the store is unreachable, the notice is lost.
 */
export function addNotices(req: Request, store: KeyValueStore): void {
  req.leaveNotice = (notice) => store.set(actionKey(req), JSON.stringify(notice), NOTICE_MS).catch(() => {})
  req.takeNotices = async ({ ofAction }) => {
    const user = currentUser(req)
    const [action, forUser] = await Promise.all([
      ofAction ? take(store, actionKey(req)) : null,
      user ? take(store, userKey(user.id)) : null,
    ])
    const { data: left } = noticeSchema.safeParse(parseJson(action ?? ''))
    return [...(left ? [left] : []), ...parseUserNotices(forUser)]
  }
}

const actionKey = (req: Request): Key => ({
  kind: 'notice',
  owner: hash('sha256', req.sessionID, 'base64url'),
  id: '',
})

/** Reads and deletes a value, for one caller only. A store that is unreachable has none. */
async function take(store: KeyValueStore, key: Key): Promise<string | null> {
  let taken: string | null = null
  try {
    await update(store, key, (value) => {
      taken = value
      return null
    })
    return taken
  } catch {
    return null
  }
}

const userKey = (userId: string): Key => ({ kind: 'user-notices', owner: userId, id: '' })
const parseUserNotices = (value: string | null): UserNotice[] =>
  userNoticesSchema.safeParse(parseJson(value ?? '[]')).data ?? []

/** Stores a notice for the next page of this user, in any session. Throws `StoreUnavailableError`. */
export async function leaveUserNotice(
  store: KeyValueStore,
  userId: string,
  notice: UserNotice,
): Promise<void> {
  await changeUserNotices(store, userId, (notices) =>
    [...notices.filter(({ id }) => id !== notice.id), notice].slice(-MAX_USER_NOTICES),
  )
}

/** Deletes the notice about this work, because its user has seen the outcome. Throws `StoreUnavailableError`. */
export async function forgetUserNotice(store: KeyValueStore, userId: string, id: string): Promise<void> {
  await changeUserNotices(store, userId, (notices) => notices.filter((notice) => notice.id !== id))
}

/** The notices that wait for a user, as text that can be compared; null: there are none. */
export const waitingNotices = (store: KeyValueStore, userId: string): Promise<string | null> =>
  store.getCached(userKey(userId))

async function changeUserNotices(
  store: KeyValueStore,
  userId: string,
  change: (notices: UserNotice[]) => UserNotice[],
): Promise<void> {
  const changed = (value: string | null) => {
    const notices = change(parseUserNotices(value))
    return notices.length > 0 ? JSON.stringify(notices) : null
  }
  await update(store, userKey(userId), changed, USER_NOTICES_MS)
}
