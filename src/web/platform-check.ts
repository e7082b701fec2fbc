import type { RequestHandler } from 'express'
import { PlatformRejectedError, PlatformUnavailableError } from '../connect/errors.ts'
import type { Http, Trouble, Vault } from '../connect/index.ts'
import { currentUser } from './user.ts'

/** How long the platform may take to answer, in ms. */
const PATIENCE_MS = 2_000
const OUTAGES: readonly Trouble[] = ['no_answer', 'error', 'paused']

/**
 * Before the browser goes to the platform: if the last calls for this user failed, looks whether the platform answers at
 * `appUrl`. Otherwise, the user would leave for the browser's own error page. Throws `PlatformUnavailableError`.
 */
export function checkPlatformFirst(appUrl: string, vault: Vault, http: Http): RequestHandler {
  return async (req, _res, next) => {
    const user = currentUser(req)
    const connections = user ? await vault.list(user.id) : []
    const failing = connections.some(
      ({ view }) => view.state === 'degraded' && OUTAGES.includes(view.trouble),
    )
    if (failing) await assertAnswers(appUrl, http)
    next()
  }
}

async function assertAnswers(appUrl: string, http: Http): Promise<void> {
  const { status } = await http
    .send({ method: 'GET', url: appUrl, deadlineMs: PATIENCE_MS })
    .catch((error: unknown) => {
      // A page that is too large for the app is one for a browser.
      if (error instanceof PlatformRejectedError) return { status: 200 }
      throw error
    })
  if (status >= 500)
    throw new PlatformUnavailableError('error', `the platform's app answered ${status} before a connect flow`)
}
