import type { Request } from 'express'

declare module 'express-session' {
  interface SessionData {
    /** What an action did, to be shown once on the next page. */
    notice: string
  }
}

/** Leaves a notice for the next page that this browser opens. Only what a request did says so, never an address. */
export function leaveNotice(req: Request, notice: string): void {
  req.session.notice = notice
}

/** The notice of the last action, if there is one; it is shown once. */
export function takeNotice(req: Request): string | null {
  // Pages before the sessions, such as the description of live pricing, have none.
  const notice = req.session?.notice
  if (notice === undefined) return null
  delete req.session.notice
  return notice
}
