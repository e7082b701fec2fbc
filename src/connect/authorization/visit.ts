/** The interface between your app and the routes of the connect flow, and the browser session of a visit. */
import { hash } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Vault } from '../vault/vault.ts'
import type { BrowserSession, FlowRecords } from './flow-records.ts'
import type { Question } from './flows.ts'

/** Your app implements this for the flow: the signed-in user, and pages. */
export interface ConnectPages {
  /** The id of the signed-in user. Throws if no user is signed in, for example because the user signed out during the flow. */
  requireUser(req: Request): string
  isSignedIn(req: Request): boolean
  /** Stores a notice that this business is connected, and resolves to the address of the page that shows it. */
  connectedPage(req: Request, bxcontext: string): Promise<string>
  /**
   * Sends a page that opens `url` automatically and links to it, or `{location}` as JSON. It must not redirect to another origin:
   * browsers apply `form-action` (CSP Level 3) to every redirect after a form post, and a platform may redirect to any login host.
   */
  sendRedirectPage(req: Request, res: Response, url: string): void
  /** Asks whether to connect the bxcontext that arrived. The form posts to the same address. */
  confirmDifferentBusiness(req: Request, res: Response, question: Question): void | Promise<void>
}

export interface ConnectRoutesOptions {
  connect: {
    platform: Platform
    flows: FlowRecords
    oauth: OAuth
    vault: Pick<Vault, 'connect' | 'hasRoom'>
  }
  /** The public address of this app. */
  baseUrl: string
  pages: ConnectPages
  log: Log
}

/**
 * Returns the signed-in user and a hash of the session id. Throws an `Error` for the developer if there is no session, because only
 * the session tells the flows of two browsers apart.
 */
export function browserSession(
  req: Request & { sessionID?: string },
  pages: Pick<ConnectPages, 'requireUser'>,
): BrowserSession {
  const userId = pages.requireUser(req)
  const { sessionID } = req
  if (!sessionID) throw new Error('connectRoutes needs req.sessionID: use express-session before it')
  return { userId, session: hash('sha256', sessionID, 'base64url') }
}
