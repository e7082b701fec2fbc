import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { ConnectPages } from '../connect/authorization/routes.ts'
import type { ConnectionRef, Vault } from '../connect/index.ts'
import { NotConnectedError, RefreshTooSoonError } from '../connect/platform/errors.ts'
import { connectionView } from './connection-view.ts'
import { notSignedIn } from './errors.ts'
import type { NoticeTone } from './notice.ts'
import { sendPageOrJson, sendResultOrRedirect, wantsJson } from './respond.ts'
import { currentUser, requireUser } from './sign-in.ts'

export interface ConnectionsOptions {
  vault: Vault
  /** The scopes requested by every authorization request. */
  requestedScopes: readonly string[]
  /** Returns the links for the card of an active connection. */
  linksOf(ref: ConnectionRef): Promise<{ path: string; label: string; count?: number }[]>
}

const SIGNED_OUT =
  'You are no longer signed in, so the account was not connected. Sign in and connect it again.'
const REFRESHED = 'A new access token was issued.'
const NO_REFRESH_TOKEN =
  'The platform issued no refresh token for this account. The access token can be used until it expires.'

/** The signed-in user's connection in the URL. Throws `unauthenticated` (401). */
export function connectionRef(req: Request<{ bxcontext: string }>): ConnectionRef {
  return { userId: requireUser(req), bxcontext: req.params.bxcontext }
}

/** Routes for the start page, the list of connections, and refreshing or disconnecting one. */
export function connectionsRoutes({ vault, requestedScopes, linksOf }: ConnectionsOptions): Router {
  const list: RequestHandler = async (req, res) => {
    const userId = requireUser(req)
    const stored = await vault.list(userId)
    const connections = stored.map((connection) => connectionView(connection, requestedScopes))
    /** Time until each access token can be refreshed manually, in seconds. */
    const refreshableIn = stored.map((connection) =>
      connection.status === 'active' ? Math.ceil(connection.refreshableInMs / 1000) : 0,
    )
    const links = wantsJson(req)
      ? []
      : await Promise.all(stored.map(({ bxcontext }) => linksOf({ userId, bxcontext })))
    sendPageOrJson(req, res, {
      view: 'app/connections',
      title: 'Your connections',
      data: { connections, refreshableIn, links },
      json: { connections },
    })
  }

  /** Sends the current state of a connection, or redirects to the list with a notice. */
  async function sendConnection(
    req: Request,
    res: Response,
    ref: ConnectionRef,
    notice: string,
    tone?: NoticeTone,
  ) {
    const found = await vault.find(ref)
    const connection = found && connectionView(found, requestedScopes)
    await sendResultOrRedirect(req, res, '/connections', { connection }, { notice, tone })
  }

  return Router()
    .get('/', (req, res, next) => {
      if (currentUser(req)) return list(req, res, next)
      return sendPageOrJson(req, res, {
        view: 'app/home',
        title: 'Connect your account',
        data: { requestedScopes },
        json: { signedIn: false, scopes: requestedScopes },
      })
    })
    .get('/connections', list)
    .post('/connections/:bxcontext/refresh', async (req, res) => {
      const ref = connectionRef(req)
      try {
        const refreshed = await vault.refresh(ref)
        await sendConnection(req, res, ref, refreshed ? REFRESHED : NO_REFRESH_TOKEN)
      } catch (error) {
        // In a browser, refreshing too soon is not an error: the page says when to try again.
        if (!(error instanceof RefreshTooSoonError) || wantsJson(req)) throw error
        await sendConnection(req, res, ref, error.message, 'wait')
      }
    })
    .post('/connections/:bxcontext/disconnect', async (req, res) => {
      const ref = connectionRef(req)
      if (!(await vault.disconnect(ref))) throw new NotConnectedError()
      const notice = 'The account was disconnected and its tokens were deleted here.'
      await sendConnection(req, res, ref, notice)
    })
}

/** The pages and sign-in functions used by the connect flow. */
export const connectPages: ConnectPages = {
  requireUser,
  isSignedIn: (req) => currentUser(req) !== null,
  signedOut: () => notSignedIn(SIGNED_OUT),
  async showConnected(req, res) {
    await req.leaveNotice('The account is connected.')
    res.redirect(303, '/connections')
  },
  askAboutMismatch(req, res, { id, bxcontext, expected }) {
    sendPageOrJson(req, res, {
      view: 'app/confirm-bxcontext',
      title: `Connect ${bxcontext} as well?`,
      data: { id, bxcontext, expected },
      json: { id, bxcontext, expected },
    })
  },
}
