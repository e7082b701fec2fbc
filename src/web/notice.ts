import { createHash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Key, KeyValueStore } from '../connect/stores.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Stores a notice for the next page of this session. Notices never come from a URL, which could be forged. */
    leaveNotice(notice: Notice): Promise<void>
    /** Returns and deletes the notice of the last action, if any. */
    takeNotice(): Promise<Notice | null>
  }
}

/** `good`: the action succeeded. `wait`: something is left to do, or to try again later. */
type NoticeTone = 'good' | 'wait'

/** Shown behind the text. */
export interface NoticeLink {
  href: string
  label: string
}

export interface Notice {
  text: string
  /** Defaults to `good`. */
  tone?: NoticeTone | undefined
  link?: NoticeLink | undefined
  /** What a developer wants to know; folded. */
  details?: string | undefined
}

/** Lifetime of a notice, in ms. */
const NOTICE_MS = 60_000

/**
 * Stores notices separately from sessions: writing the session would extend its lifetime, and could restore it after a
 * sign-out. If the store is unreachable, the notice is lost.
 */
export function notices(store: KeyValueStore): RequestHandler {
  const keyOf = (req: Request): Key => ({
    kind: 'notice',
    owner: createHash('sha256').update(req.sessionID).digest('base64url'),
    id: '',
  })
  return (req, _res, next) => {
    req.leaveNotice = (notice) => store.set(keyOf(req), JSON.stringify(notice), NOTICE_MS).catch(() => {})
    req.takeNotice = async () => {
      try {
        const notice = await store.get(keyOf(req))
        if (notice === null) return null
        await store.delete(keyOf(req))
        return JSON.parse(notice)
      } catch {
        return null
      }
    }
    next()
  }
}
