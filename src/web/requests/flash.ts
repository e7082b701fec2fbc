import { promisify } from 'node:util'
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

/**
 * Leaves a notice for the next page of the signed-in user. Wait for it before you redirect: express-session sends a redirect before it
 * has saved the session, and browsers follow immediately. An action that succeeded does not fail because its notice can't be saved.
 */
export async function leaveNotice({ session }: Request, notice: Notice): Promise<void> {
  if (!session?.user) return
  session.notice = notice
  await promisify(session.save)
    .call(session)
    .catch(() => {})
}

/** Returns the notice of the signed-in user's latest action, and removes it. */
export function takeNotice({ session }: Request): Notice | null {
  const { notice = null } = session
  delete session.notice
  return notice
}
