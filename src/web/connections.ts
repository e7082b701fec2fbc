import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { ConnectPages } from '../connect/authorization/routes.ts'
import { NotConnectedError, RefreshTooSoonError } from '../connect/platform/errors.ts'
import type { Vault } from '../connect/vault/vault.ts'
import { connectionView } from './connection-view.ts'
import { notSignedIn } from './errors.ts'
import type { NoticeTone } from './notice.ts'
import { done, respond, wantsJson } from './respond.ts'
import { currentUser, requireUser } from './sign-in.ts'

export interface ConnectionsOptions {
  vault: Vault
  /** The scopes that every consent asks for. */
  wanted: readonly string[]
}

const SIGNED_OUT =
  'You are no longer signed in here, so the account was not connected. Sign in, then connect it again.'
const REFRESHED = 'A new access token was issued.'
const NO_REFRESH_TOKEN =
  'The platform issued no refresh token for this account, so its access token is used until it expires.'

/** The start page, the user's connections, and what can be done with one. */
export function connectionsRoutes({ vault, wanted }: ConnectionsOptions): Router {
  const show: RequestHandler = async (req, res) => {
    const stored = await vault.list(requireUser(req))
    const connections = stored.map((connection) => connectionView(connection, wanted))
    /** How long until each access token can be refreshed by hand, in seconds. */
    const refreshableIn = stored.map((connection) =>
      connection.status === 'active' ? Math.ceil(connection.refreshableInMs / 1000) : 0,
    )
    respond(req, res, {
      view: 'connections',
      title: 'Your connections',
      data: { connections, refreshableIn },
      json: { connections },
    })
  }

  /** Answers the connection as it is now. */
  async function answer(
    req: Request,
    res: Response,
    userId: string,
    context: string,
    notice: string,
    tone?: NoticeTone,
  ) {
    const found = await vault.find(userId, context)
    const connection = found && connectionView(found, wanted)
    await done(req, res, '/connections', { connection }, { notice, tone })
  }

  return Router()
    .get('/', (req, res, next) => {
      if (currentUser(req)) return show(req, res, next)
      return respond(req, res, {
        view: 'home',
        title: 'Connect your account',
        data: { wanted },
        json: { signedIn: false, scopes: wanted },
      })
    })
    .get('/connections', show)
    .post('/connections/:context/refresh', async (req, res) => {
      const [userId, context] = [requireUser(req), req.params.context]
      try {
        const refreshed = await vault.refresh(userId, context)
        await answer(req, res, userId, context, refreshed ? REFRESHED : NO_REFRESH_TOKEN)
      } catch (error) {
        // A second press within seconds is no error to a person: the page says when the button works again.
        if (!(error instanceof RefreshTooSoonError) || wantsJson(req)) throw error
        await answer(req, res, userId, context, error.message, 'wait')
      }
    })
    .post('/connections/:context/disconnect', async (req, res) => {
      const [userId, context] = [requireUser(req), req.params.context]
      if (!(await vault.disconnect(userId, context))) throw new NotConnectedError()
      await answer(req, res, userId, context, 'The account is disconnected, and its tokens are deleted here.')
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
  askAboutMismatch(req, res, { id, context, expected }) {
    respond(req, res, {
      view: 'confirm-context',
      title: `Connect ${context} as well?`,
      data: { id, context, expected },
      json: { id, context, expected },
    })
  },
}
