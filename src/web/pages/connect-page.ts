import { Router } from 'express'
import * as z from 'zod'
import { platform } from '../../connect/index.ts'
import { WebError } from '../requests/errors.ts'
import { sendPageOrJson } from '../requests/respond.ts'
import { localPath } from '../requests/return-to.ts'
import { currentUser } from '../sign-in/user.ts'
import { texts } from '../texts.ts'
import { connectionView } from './connection-view.ts'
import type { ConnectionsOptions } from './connections.ts'

/** An empty text counts as missing. */
const querySchema = z.object({ bxcontext: z.union([z.literal(''), platform.bxcontextSchema]).optional() })

/**
 * The page to link to from emails and other sites. It also explains its purpose to visitors who are signed out, but doesn't show
 * them a business's name, because anyone can write a link. Opening it has no effect, because email scanners and browsers also open
 * links. Only its button starts a flow, for the signed-in user. It is mounted at `/`, because traces would show the routes of only
 * one of two parts at `/connect`.
 */
export const connectPageRoute = ({
  vault,
  requestedScopes,
}: Pick<ConnectionsOptions, 'vault' | 'requestedScopes'>): Router =>
  Router().get('/connect', async (req, res) => {
    const user = currentUser(req)
    const { bxcontext } = querySchema.parse(req.query)
    const found = user && bxcontext ? await vault.findAny({ userId: user.id, bxcontext }) : null
    if (user && bxcontext && !found) throw new WebError(404, 'not_connected')
    const connection = found ? connectionView(found) : null
    const { reconnect, works, signedOut } = texts.connectPage
    const title = user ? texts.connections.connect : signedOut.title(Boolean(bxcontext))
    sendPageOrJson(req, res, {
      view: 'app/connect',
      title: connection ? (connection.canReconnect ? reconnect : works)(connection.name) : title,
      // A program may open this page, so keep the notice for the next page that the user opens.
      data: {
        connection,
        requestedScopes,
        returnTo: localPath(req.originalUrl),
        keepNotice: true,
      },
      json: { user: user && { name: user.name }, scopes: requestedScopes, connection },
    })
  })
