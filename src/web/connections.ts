import { type Request, type RequestHandler, type Response, Router } from 'express'
import { NotConnected } from '../platform/errors.ts'
import type { Vault } from '../vault/vault.ts'
import { type ConnectionView, connectionView } from './connection-view.ts'
import { done, respond } from './respond.ts'
import { currentUser, requireUser } from './sign-in.ts'

export interface ConnectionsOptions {
  vault: Vault
  /** The scopes that every consent asks for. */
  wanted: readonly string[]
}

/** The start page, the user's connections, and what can be done with one. */
export function connectionsRoutes({ vault, wanted }: ConnectionsOptions): Router {
  const viewsOf = async (userId: string) =>
    (await vault.list(userId)).map((connection) => connectionView(connection, wanted))

  const show: RequestHandler = async (req, res) => {
    const connections = await viewsOf(requireUser(req))
    const connected = connections.find(({ context }) => context === req.query.connected)
    respond(req, res, {
      view: 'connections',
      title: 'Your connections',
      data: { connections, notice: noticeOf(req, connected) },
      json: { connections },
    })
  }

  /** Answers the connection as it is now. */
  async function answer(req: Request, res: Response, userId: string, context: string, notice: string) {
    const found = await vault.find(userId, context)
    const connection = found && connectionView(found, wanted)
    done(req, res, `/connections?${notice}`, { connection })
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
      await vault.refresh(userId, context)
      await answer(req, res, userId, context, 'refreshed')
    })
    .post('/connections/:context/disconnect', async (req, res) => {
      const [userId, context] = [requireUser(req), req.params.context]
      if (!(await vault.disconnect(userId, context))) throw new NotConnected()
      await answer(req, res, userId, context, 'disconnected')
    })
}

function noticeOf(req: Request, connected: ConnectionView | undefined): string | null {
  if (connected?.status === 'active') return 'The account is connected.'
  if (req.query.refreshed !== undefined) return 'A new access token was issued.'
  if (req.query.disconnected !== undefined)
    return 'The account is disconnected, and its tokens are deleted here.'
  return null
}
