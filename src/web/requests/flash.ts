import type { Request } from 'express'

/** The outcome of an action, which the next page shows once. */
export interface Notice {
  text: string
  /** `good`: the action succeeded. `wait`: the user has to do more, or to try again later. Defaults to `good`. */
  tone?: 'good' | 'wait' | undefined
  /** Shown after the text. */
  link?: { href: string; label: string } | undefined
  /** The bxcontext of the business that can be connected again. */
  connectAgain?: string | undefined
  /** Details for developers, which the page shows collapsed. */
  details?: string | undefined
}

declare module 'express-session' {
  interface SessionData {
    /** It is never in an address, which could be forged. */
    notice: Notice
  }
}

/** Leaves a notice for the next page of the signed-in user. */
export function leaveNotice(req: Request, notice: Notice): void {
  if (req.session?.user) req.session.notice = notice
}

/** Returns the notice of the signed-in user's latest action, and removes it. */
export function takeNotice({ session }: Request): Notice | null {
  const { notice = null } = session
  delete session.notice
  return notice
}
