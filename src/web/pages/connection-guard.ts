import type { Request, RequestHandler } from 'express'
import * as z from 'zod'
import { type ConnectionRef, platform, type Vault } from '../../connect/index.ts'
import { requireUser } from '../sign-in/user.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** The connection in the URL, if the guard found it. */
    guarded?: ConnectionRef
  }
}

const paramsSchema = z.object({ bxcontext: platform.bxcontextSchema })

/** The connection in the URL, which may not exist. Throws `unauthenticated` (401), and a `ZodError` that names the parameter. */
export const connectionIn = (req: Request<{ bxcontext: string }>): ConnectionRef => ({
  userId: requireUser(req),
  ...paramsSchema.parse(req.params),
})

/**
 * The guard of each part that `needsConnection`: the signed-in user must have the connection in the URL, and its access must not
 * have ended. For GET and HEAD, its state may be a second old. Throws `unauthenticated` (401), `not_connected` (404),
 * `connection_revoked` (409).
 */
export function connectionGuard(vault: Vault): RequestHandler<{ bxcontext: string }> {
  return async (req, _res, next) => {
    const connection = connectionIn(req)
    const cached = req.method === 'GET' || req.method === 'HEAD'
    await vault.requireConnection(connection, { cached })
    req.guarded = connection
    next()
  }
}

/** The connection in the URL, which the guard has found. Throws an error for developers if the router has no guard. */
export function connectionRef({ guarded }: Pick<Request, 'guarded'>): ConnectionRef {
  if (!guarded) throw new Error('connectionRef(req) needs a part with `needsConnection: true`')
  return guarded
}
