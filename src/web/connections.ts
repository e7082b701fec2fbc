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
  /** The scopes that every consent asks for. */
  requestedScopes: readonly string[]
  /** The links on the card of an active connection. */
  linksOf(ref: ConnectionRef): Promise<{ path: string; label: string; count?: number }[]>
}

const SIGNED_OUT =
  'You are no longer signed in here, so the account was not connected. Sign in, then connect it again.'
const REFRESHED = 'A new access token was issued.'
const NO_REFRESH_TOKEN =
  'The platform issued no refresh token for this account, so its access token is used until it expires.'

/** The connection of the signed-in user that an address names. Throws `unauthenticated` (401). */
export function connectionRef(req: Request<{ bxcontext: string }>): ConnectionRef {
  return { userId: requireUser(req), bxcontext: req.params.bxcontext }
}

/** The start page, the user's connections, and the actions on one. */
export function connectionsRoutes({ vault, requestedScopes, linksOf }: ConnectionsOptions): Router {
  const list: RequestHandler = async (req, res) => {
    const userId = requireUser(req)
    const stored = await vault.list(userId)
    const connections = stored.map((connection) => connectionView(connection, requestedScopes))
    /** How long until each access token can be refreshed by hand, in seconds. */
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

  /** Sends the connection as it is now. */
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
        // For a person, pressing the button again within seconds is not an error: the page says when it works again.
        if (!(error instanceof RefreshTooSoonError) || wantsJson(req)) throw error
        await sendConnection(req, res, ref, error.message, 'wait')
      }
    })
    .post('/connections/:bxcontext/disconnect', async (req, res) => {
      const ref = connectionRef(req)
      if (!(await vault.disconnect(ref))) throw new NotConnectedError()
      const notice = 'The account is disconnected, and its tokens are deleted here.'
      await sendConnection(req, res, ref, notice)
    })
}

/** What the connect flow needs of the pages. */
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
