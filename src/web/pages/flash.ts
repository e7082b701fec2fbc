import type { RequestHandler } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey } from '../../connect/index.ts'
import { type Notice, noticeSchema } from '../requests/respond.ts'
import { encryptedCookie } from '../sign-in/encrypted-cookie.ts'
import { currentUser } from '../sign-in/user.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps a notice for the page at `location`, where this answer redirects. Notices never come from a URL, which could be forged. */
    leaveNotice?(notice: Notice, location: string): void
    /** Returns the notice of the latest action in this browser, and deletes it. */
    takeNotice?(): Notice | null
  }
}

/** Lifetime of a notice, in ms. */
const NOTICE_MS = 60_000

/** Adds the methods for notices to requests. A notice is in an encrypted cookie. */
export function notices(keys: readonly EncryptionKey[], baseUrl: string): RequestHandler {
  // The notice names its user, since another one may sign in next in this browser.
  const schema = noticeSchema.extend({ userId: z.string() })
  const cookie = encryptedCookie(createRecordCipher(keys), baseUrl, { name: 'notice', schema, ms: NOTICE_MS })
  return (req, res, next) => {
    req.leaveNotice = (notice, location) => {
      const user = currentUser(req)
      if (user) cookie.write(res, { ...notice, userId: user.id }, location)
    }
    req.takeNotice = () => {
      const user = currentUser(req)
      const left = user ? cookie.read(req) : null
      if (left) cookie.clear(res)
      return left?.userId === user?.id ? left : null
    }
    next()
  }
}
