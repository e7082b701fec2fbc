import type { Request, Response } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey } from '../../connect/index.ts'
import { type Notice, noticeSchema } from '../requests/respond.ts'
import { encryptedCookie } from '../sign-in/encrypted-cookie.ts'
import { currentUser } from '../sign-in/user.ts'

/** Lifetime of a notice, in ms. */
const NOTICE_MS = 60_000

/** The notices of one browser, for its signed-in user. Notices never come from a URL, which could be forged. */
export interface Flash {
  /** Keeps a notice for the page at `location`, to which this answer redirects. */
  leave(notice: Notice, location: string): void
  /** Returns the notice of the latest action, and deletes it. */
  take(): Notice | null
}

/** Stores a notice in an encrypted cookie. */
export function flashes(
  keys: readonly EncryptionKey[],
  baseUrl: string,
): (req: Request, res: Response) => Flash {
  // The notice includes its user, because another user may sign in next in this browser.
  const schema = noticeSchema.extend({ userId: z.string() })
  const cookie = encryptedCookie(createRecordCipher(keys), baseUrl, { name: 'notice', schema, ms: NOTICE_MS })
  return (req, res) => ({
    leave(notice, location) {
      const user = currentUser(req)
      if (user) cookie.write(res, { ...notice, userId: user.id }, location)
    },
    take() {
      const user = currentUser(req)
      const left = user ? cookie.read(req) : null
      if (left) cookie.clear(res)
      return left?.userId === user?.id ? left : null
    },
  })
}
