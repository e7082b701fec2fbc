import { createHash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import type { Key, KeyValueStore } from '../connect/store/store.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Leaves a notice for the next page that this browser opens. Only what a request did says so, never an address. */
    leaveNotice(text: string, tone?: NoticeTone): Promise<void>
    /** The notice of the last action, if there is one; it is shown once. */
    takeNotice(): Promise<Notice | null>
  }
}

/** `good`: it is done. `wait`: it is not, and will be possible later. */
export type NoticeTone = 'good' | 'wait'

export interface Notice {
  text: string
  tone: NoticeTone
}

/** How long a notice waits for its page, in ms. */
const NOTICE_MS = 60_000

/**
 * Notices of a session, in the store beside it: to write the session itself would renew its life, and bring it back after
 * a sign-out. A store that is away costs a notice and nothing else.
 */
export function notices(store: KeyValueStore): RequestHandler {
  const keyOf = (req: Request): Key => ({
    kind: 'notice',
    owner: createHash('sha256').update(req.sessionID).digest('base64url'),
    id: '',
  })
  return (req, _res, next) => {
    req.leaveNotice = (text, tone = 'good') => {
      const notice: Notice = { text, tone }
      return store.set(keyOf(req), JSON.stringify(notice), NOTICE_MS).catch(() => {})
    }
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
