/** What the app gives the routes of the connect flow, and what they report about each visit of the browser. */
import { hash } from 'node:crypto'
import type { Request, Response } from 'express'
import { noteFlow } from '../context.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/contract.ts'
import type { OAuth } from '../platform/oauth.ts'
import type { Vault } from '../vault/vault.ts'
import type { FailureCode } from './errors.ts'
import type { BrowserSession, FlowRecords } from './flow-records.ts'
import type { Question } from './flows.ts'

/** What the flow gets from the app: the signed-in user, and pages. */
export interface ConnectPages {
  /** The id of the signed-in user. Throws if no user is signed in. */
  requireUser(req: Request): string
  isSignedIn(req: Request): boolean
  /** The error for a flow whose user signed out before it finished. */
  signedOut(): Error
  /** Leaves a notice that this business is connected, and resolves to the address of the page that shows it. */
  connectedPage(req: Request, bxcontext: string): Promise<string>
  /**
   * Sends a page that goes on to `url` by itself and has a link to it, or `{location}` as JSON. It must not redirect to another
   * origin: browsers apply `form-action` (CSP Level 3) to every redirect after a form post, and a platform may redirect to any
   * login host.
   */
  goOn(req: Request, res: Response, url: string): void
  /** Asks whether to connect the bxcontext that arrived; the form posts to the same address. */
  askAboutMismatch(req: Request, res: Response, question: Question): void | Promise<void>
}

/** The steps of a connect flow at which the browser goes on, and the exchange of the code. */
export type Hop = 'start' | 'confirm' | 'consent' | 'exchange' | 'result'

/** A request of the browser in a connect flow, and where the browser goes next. */
export interface HopEvent {
  hop: Hop
  req: Request
  /** When the request arrived, in ms since 1970. */
  arrivedAt: number
  /** The next address. For `exchange`, it is the address of this request itself, and the app exchanges its code next. */
  target: string
  /**
   * The status of the answer if the browser opens `target`: 303 for a redirect, 200 for a page that goes on by itself, or the status
   * of the failure.
   */
  status: number
  /** The flow, as far as it is known. `state` is the parameter of the consent request. */
  flow: {
    userId: string
    id?: string | undefined
    bxcontext?: string | undefined
    state?: string | undefined
  }
  /** Why the flow failed, if the next page says so. */
  failure?: FailureCode
}

/** Called at each hop. Resolves to the address that the browser opens, which is usually `target`. It must not throw. */
export type OnHop = (event: HopEvent) => Promise<string>

export interface ConnectRoutesOptions {
  connect: {
    platform: Platform
    flows: FlowRecords
    oauth: OAuth
    vault: Pick<Vault, 'connect' | 'hasRoom'>
  }
  /** The public address of this app. */
  baseUrl: string
  onHop?: OnHop | undefined
  pages: ConnectPages
  log: Log
}

/** What a route reports about a hop: where it leads, and what is known about the flow. */
export type Onward = Omit<HopEvent, 'req' | 'arrivedAt' | 'flow'> & {
  flow?: Omit<HopEvent['flow'], 'userId'>
}

/** Returns the browser's session, and a function that reports a hop and resolves to the address that the browser opens next. */
export function arrival({ pages, onHop }: ConnectRoutesOptions, req: Request) {
  const arrivedAt = Date.now()
  const browser = browserSession(req, pages)
  const { userId } = browser
  const hop = async ({ flow, ...event }: Onward): Promise<string> => {
    if (flow?.id) noteFlow(flow.id)
    return onHop ? onHop({ ...event, req, arrivedAt, flow: { userId, ...flow } }) : event.target
  }
  return { browser, hop }
}

/**
 * Returns the signed-in user and a hash of the session id. Throws an error for the developer if there is no session, because only
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
