import { Router } from 'express'
import * as z from 'zod'
import { platform } from '../../connect/index.ts'
import { notSignedIn, WebError } from '../requests/errors.ts'
import { sendPageOrJson } from '../requests/respond.ts'
import { currentUser } from '../sign-in/user.ts'
import { texts } from '../texts.ts'
import { connectionView } from './connection-view.ts'
import type { ConnectionsOptions } from './connections.ts'

/** An empty text counts as a missing one. */
const querySchema = z.object({ bxcontext: z.union([z.literal(''), platform.bxcontextSchema]).optional() })

/**
 * The page to link to from mails and other sites. Opening it changes nothing, since mail scanners and browsers open links too.
 * Only its button starts a flow, for the signed-in user. It is mounted at `/`, because traces would show the routes of only one
 * of two parts at `/connect`.
 */
export const connectPageRoute = ({
  vault,
  requestedScopes,
}: Pick<ConnectionsOptions, 'vault' | 'requestedScopes'>): Router =>
  Router().get('/connect', async (req, res) => {
    const user = currentUser(req)
    if (!user) throw notSignedIn()
    const { bxcontext } = querySchema.parse(req.query)
    const found = bxcontext ? await vault.findAny({ userId: user.id, bxcontext }) : null
    if (bxcontext && !found) throw new WebError(404, 'not_connected')
    const connection = found ? connectionView(found) : null
    sendPageOrJson(req, res, {
      view: 'app/connect',
      title: connection ? texts.connectPage.reconnect(connection.name) : texts.connections.connect,
      // A program may open this page, so the notices stay for the next page that the user opens.
      data: { connection, requestedScopes, keepNotice: true },
      json: { user: { name: user.name }, scopes: requestedScopes, connection },
    })
  })
