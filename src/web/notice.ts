import type { RequestHandler } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey, parseJson } from '../connect/index.ts'
import { type Key, type KeyValueStore, update } from '../connect/stores.ts'
import { encryptedCookie } from './encrypted-cookie.ts'
import { type Notice, noticeSchema } from './respond.ts'
import { currentUser } from './user.ts'

const userNoticesSchema = z.array(noticeSchema.extend({ id: z.string() }))
/** A notice about work in the background. `id` identifies the work. */
export type UserNotice = z.infer<typeof userNoticesSchema>[number]

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps a notice for the page at `location`, where this answer redirects. Notices never come from a URL, which could be forged. */
    leaveNotice?(notice: Notice, location: string): void
    /** Returns and deletes the notices for the signed-in user. `ofAction`: also the notice of the latest action in this browser. */
    takeNotices?(options: { ofAction: boolean }): Promise<Notice[]>
  }
}

/** Lifetime of the notice of an action, in ms. */
const NOTICE_MS = 60_000
/** Lifetime of the notices for a user, in ms: a supplier may come back after the weekend. */
const USER_NOTICES_MS = 7 * 86_400_000
const MAX_USER_NOTICES = 5

/** Adds notices to requests. The notice of an action is in an encrypted cookie; those for a user are in the store. */
export function notices(
  store: KeyValueStore,
  keys: readonly EncryptionKey[],
  baseUrl: string,
): RequestHandler {
  // The notice names its user, since another one may sign in next in this browser.
  const schema = noticeSchema.extend({ userId: z.string() })
  const cookie = encryptedCookie(createRecordCipher(keys), baseUrl, { name: 'notice', schema, ms: NOTICE_MS })
  return (req, res, next) => {
    req.leaveNotice = (notice, location) => {
      const user = currentUser(req)
      if (user) cookie.write(res, { ...notice, userId: user.id }, location)
    }
    req.takeNotices = async ({ ofAction }) => {
      const user = currentUser(req)
      if (!user) return []
      const left = ofAction ? cookie.read(req) : null
      if (left) cookie.clear(res)
      const forUser = parseUserNotices(await take(store, userKey(user.id)))
      return left?.userId === user.id ? [left, ...forUser] : forUser
    }
    next()
  }
}

/** Reads and deletes a value. Of several callers, only one gets it. Null if there is none, or the store is unreachable. */
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
