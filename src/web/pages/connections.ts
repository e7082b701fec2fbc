import { type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { NotConnectedError, RefreshTooSoonError } from '../../connect/errors.ts'
import type { ConnectPages } from '../../connect/express.ts'
import {
  type Api,
  type Connection,
  type ConnectionRef,
  type PageOf,
  platform,
  type UnreadableConnection,
  type Vault,
} from '../../connect/index.ts'
import { notSignedIn } from '../requests/errors.ts'
import { textField } from '../requests/form-fields.ts'
import { problemOf } from '../requests/problem.ts'
import { rejectForm } from '../requests/rejected-form.ts'
import {
  type Notice,
  sendOnward,
  sendPageOrJson,
  sendResultOrRedirect,
  wantsJson,
} from '../requests/respond.ts'
import { currentUser, requireUser } from '../sign-in/user.ts'
import { texts } from '../texts.ts'
import { type ConnectionTest, testConnection } from './connection-actions.ts'
import { connectionIn } from './connection-guard.ts'
import { connectionView, nameOf, unnamed } from './connection-view.ts'
import { sendVersion } from './live.ts'
import { type ListControls, listQuery, pager } from './paging.ts'

/** A link on the card of a connection. `path`: the part after the path of the connection. */
export interface ConnectionLink {
  path: string
  label: string
  /** Shown after the label, unless it is 0. */
  count?: number
  /** Whether the link is under "Details", and hidden in the customer view. */
  isForDevelopers?: boolean
}

export interface ConnectionsOptions {
  vault: Vault
  api: Api
  /** The scopes requested by every authorization request. */
  requestedScopes: readonly string[]
  /** Returns the links for the card of a connection that may work. */
  linksOf(userId: string, connection: Connection): Promise<ConnectionLink[]>
  /** The tests of a connection, in order of preference. */
  connectionTests: readonly ConnectionTest[]
  /** The platform's page on which users withdraw a consent, if it is known. */
  connectedAppsUrl: string | undefined
}

/** The longest label, in characters. */
const MAX_LABEL = 60
/** Text without control characters, line breaks, or characters that change the direction of the text after them. */
const NO_CONTROL = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u
/** A label without a visible character counts as no label. */
const orNone = (label: string) => (/[\p{L}\p{N}\p{P}\p{S}]/u.test(label) ? label : null)
const labelSchema = z.object({
  label: textField(MAX_LABEL).regex(NO_CONTROL, texts.rules.controlCharacters).transform(orNone),
})

type ConnectionRequest = Request<{ bxcontext: string }>

/** The start page, at `/`. */
export function homeRoute(options: ConnectionsOptions): Router {
  const { requestedScopes } = options
  const list = listHandler(options)
  const home: RequestHandler = async (req, res) => {
    const data = { requestedScopes, controls: await res.loadSections('app/home') }
    const json = { signedIn: false, scopes: requestedScopes }
    sendPageOrJson(req, res, { view: 'app/home', title: texts.home.pageTitle, data, json })
  }
  return Router().get('/', (req, res, next) => (currentUser(req) ? list : home)(req, res, next))
}

/** The list of connections, and the actions on a connection in any state; mounted at `/connections`. */
export const connectionsRoutes = (options: ConnectionsOptions): Router =>
  Router().use(listRoutes(options), renewingRoutes(options), labelRoutes(options), disconnectRoutes(options))

const CONTROLS = {
  orders: { name: { label: texts.connections.byName }, used: { label: texts.connections.byUse } },
  unordered: texts.connections.needsYouFirst,
} satisfies ListControls
const listSchema = listQuery(CONTROLS).extend({ order: z.enum(['', 'name', 'used']).default('') })
type Choice = z.output<typeof listSchema>
const versionSchema = z.object({
  id: z.preprocess((id) => [id].flat(), z.array(platform.bxcontextSchema).max(100)),
})
/** The longest address with which pages ask for their version, in characters. Proxies accept about 8 kB. */
const MAX_LIVE = 6_000

const load = (vault: Vault, req: Request, { skip, top, search, order }: Choice) =>
  vault.page(requireUser(req), { skip, top, search, order: order || undefined })

const listHandler =
  (options: ConnectionsOptions): RequestHandler =>
  async (req, res) => {
    const choice = listSchema.parse(req.query)
    const page = await load(options.vault, req, choice)
    const shown = wantsJson(req) ? { ...page, items: [] } : page
    const json = { ...page, items: page.items.map(connectionView) }
    sendPageOrJson(req, res, { ...(await listPage(options, req, res, choice, shown)), json })
  }

function listRoutes(options: ConnectionsOptions): Router {
  const { vault } = options
  const list = listHandler(options)
  return Router()
    .get('/', list)
    .get('/live', async (req, res) => {
      sendVersion(res, await vault.version(requireUser(req), versionSchema.parse(req.query).id))
    })
    .get('/:bxcontext/label', list)
}

/** A page of the user's connections. */
async function listPage(
  options: ConnectionsOptions,
  req: Request,
  res: Response,
  choice: Choice,
  page: PageOf<Connection | UnreadableConnection>,
) {
  const { connectedAppsUrl } = options
  const cards = await Promise.all(page.items.map((one) => cardOf(options, requireUser(req), one)))
  const ids = new URLSearchParams(page.items.map(({ bxcontext }): [string, string] => ['id', bxcontext]))
  const live = `/connections/live?${ids}`
  const data = {
    cards,
    controls: await res.loadSections('app/connections'),
    connectedAppsUrl,
    maxLabel: MAX_LABEL,
    pager: pager(page, choice),
    choice,
    fields: CONTROLS,
    hasAny: page.total !== 0 || choice.search !== '',
    /** Users who see all their connections at once need no controls. */
    hasControls: (page.total ?? 0) > choice.top || choice.skip > 0 || choice.search !== '',
    live: ids.size > 0 && live.length <= MAX_LIVE ? live : null,
    query: queryOf(req),
  }
  return { view: 'app/connections', title: texts.connections.title, data }
}

/** The query of a request, with its question mark, so that forms on a page of the list lead back to that page. */
const queryOf = ({ originalUrl }: Request) => /\?.*/.exec(originalUrl)?.[0] ?? ''

/** The data of a connection's card. It has no links if the connection cannot be read or its access has ended. */
async function cardOf(
  { linksOf }: ConnectionsOptions,
  userId: string,
  stored: Connection | UnreadableConnection,
) {
  const connection = connectionView(stored)
  const readable = 'tokens' in stored ? stored : null
  return {
    connection,
    links: readable && connection.canTest ? await linksOf(userId, readable) : [],
    /** Time until the access can be renewed by hand, in seconds. */
    refreshableIn: Math.ceil((readable?.tokens?.refreshableInMs ?? 0) / 1000),
  }
}

interface ActionResult extends Omit<Notice, 'text'> {
  notice: string
  /** Further members of the JSON, besides the connection. */
  json?: Record<string, unknown>
}

/** Sends the current state of a connection, or redirects to the list with a notice. */
async function sendConnection(vault: Vault, req: ConnectionRequest, res: Response, result: ActionResult) {
  const { json, ...notice } = result
  // Only JSON includes the connection. The action has succeeded, so it must not fail if the store can't be read now.
  const found = wantsJson(req) ? await vault.find(connectionIn(req)).catch(() => null) : null
  const connection = found && connectionView(found)
  await sendResultOrRedirect(req, res, `/connections${queryOf(req)}`, { ...json, connection }, notice)
}

function renewingRoutes({ vault, api, connectionTests }: ConnectionsOptions): Router {
  /** In a browser, renewing too soon is not an error: a notice tells the user when to try again. */
  const renewing =
    (act: (ref: ConnectionRef) => Promise<ActionResult>): RequestHandler<{ bxcontext: string }> =>
    async (req, res) => {
      const result = await act(connectionIn(req)).catch((error: unknown): ActionResult => {
        if (!(error instanceof RefreshTooSoonError) || wantsJson(req)) throw error
        return { notice: problemOf(error).detail, tone: 'wait' }
      })
      await sendConnection(vault, req, res, result)
    }
  return Router()
    .post(
      '/:bxcontext/refresh',
      renewing(async (ref) => {
        const name = await sureName(vault, ref)
        const { renewed, notRenewable } = texts.notices
        return { notice: (await vault.refresh(ref)) ? renewed(name) : notRenewable(name) }
      }),
    )
    .post(
      '/:bxcontext/test',
      renewing(async (ref) => {
        const { summary, call, ms } = await testConnection({ vault, api }, connectionTests, ref)
        const details = call === null ? undefined : `${call}, ${ms} ms`
        return { notice: summary, details, json: { ok: true, summary, call, ms } }
      }),
    )
}

/**
 * Sends the requested page of the list with the form. If the form's connection is no longer on that page, sends a page with only
 * this connection.
 */
async function pageWith(options: ConnectionsOptions, req: ConnectionRequest, res: Response) {
  const { bxcontext } = connectionIn(req)
  const choice = listSchema.parse(req.query)
  const page = await load(options.vault, req, choice)
  if (page.items.some((one) => one.bxcontext === bxcontext)) return listPage(options, req, res, choice, page)
  const found = { ...choice, skip: 0, search: bxcontext }
  return listPage(options, req, res, found, await load(options.vault, req, found))
}

/** If the label cannot be saved, its card shows the form again. */
function labelRoutes(options: ConnectionsOptions): Router {
  const { vault } = options
  return Router().post('/:bxcontext/label', async (req, res) => {
    const ref = connectionIn(req)
    try {
      await vault.label(ref, labelSchema.parse(req.body ?? {}).label)
    } catch (error) {
      return rejectForm(req, res, error, () => pageWith(options, req, res))
    }
    await sendConnection(vault, req, res, { notice: texts.notices.labelled(await sureName(vault, ref)) })
  })
}

/** Disconnecting cannot be undone, so a page first asks, and lists the business and the features that will stop working. */
function disconnectRoutes(options: ConnectionsOptions): Router {
  const { vault, connectedAppsUrl } = options
  const { disconnected, withdrawThere } = texts.notices
  const whereToWithdraw = connectedAppsUrl ? { href: connectedAppsUrl, label: withdrawThere } : undefined
  return Router()
    .get('/:bxcontext/disconnect', async (req, res) => {
      const { userId, bxcontext } = connectionIn(req)
      const stored = await vault.findAny({ userId, bxcontext })
      if (!stored) throw new NotConnectedError()
      const { connection, links } = await cardOf(options, userId, stored)
      const { canTest, name, userName } = connection
      const uses = links.filter(({ isForDevelopers }) => !isForDevelopers).map(({ label }) => label)
      const { title } = canTest ? texts.disconnect : texts.disconnect.remove
      const data = { bxcontext, uses, canTest, userName, connectedAppsUrl }
      const json = { connection }
      sendPageOrJson(req, res, { view: 'app/disconnect', title: title(name), data, json })
    })
    .post('/:bxcontext/disconnect', async (req, res) => {
      const ref = connectionIn(req)
      const name = await sureName(vault, ref)
      const consent = await vault.disconnect(ref)
      if (!consent) throw new NotConnectedError()
      await sendConnection(vault, req, res, {
        notice: disconnected[consent](name),
        tone: consent === 'unknown' ? 'wait' : 'good',
        link: consent === 'revoked' ? undefined : whereToWithdraw,
        connectAgain: ref.bxcontext,
        json: { consent },
      })
    })
}

/** The name of a connection for its user, or null if it does not exist. If it cannot be read, the name is derived from its id. */
export const connectionName = (vault: Vault, ref: ConnectionRef): Promise<string | null> =>
  vault.find(ref).then(
    (connection) => connection && nameOf(connection),
    () => unnamed(ref.bxcontext),
  )

/** Like `connectionName`, but derives the name of a connection that does not exist from its id. */
const sureName = async (vault: Vault, ref: ConnectionRef): Promise<string> =>
  (await connectionName(vault, ref)) ?? unnamed(ref.bxcontext)

/** The id of the signed-in user. Throws `unauthenticated` (401). Its page leads back to connecting. */
function userWhoConnects(req: Request): string {
  const user = currentUser(req)
  if (!user) throw notSignedIn(texts.signIn.signedOutWhileConnecting)
  return user.id
}

/** The pages and sign-in functions used by the connect flow. */
export const createConnectPages = (vault: Vault): ConnectPages => ({
  requireUser: userWhoConnects,
  isSignedIn: (req) => currentUser(req) !== null,
  async connectedPage(req, bxcontext) {
    const notice = await connectedNotice(vault, req, bxcontext)
    const location = '/connections'
    if (notice) req.leaveNotice(notice, location)
    return location
  },
  sendRedirectPage: (req, res, url) => sendOnward(req, res, url, texts.toPlatform),
  async confirmDifferentBusiness(req, res, { id, bxcontext, expected }) {
    const userId = requireUser(req)
    // The platform reports a business's name with its tokens, so the name is unknown before the first connection.
    const [chosenName, expectedName] = await Promise.all([
      connectionName(vault, { userId, bxcontext }).then((name) => name ?? texts.mismatch.other(bxcontext)),
      sureName(vault, { userId, bxcontext: expected }),
    ])
    sendPageOrJson(req, res, {
      view: 'app/confirm-bxcontext',
      title: texts.mismatch.title(chosenName),
      data: { id, bxcontext, expected, chosenName, expectedName },
      json: { id, bxcontext, expected },
    })
  },
})

/** The notice that the account is connected, or what it lacks. Null if it can't be read, or was disconnected in the meantime. */
async function connectedNotice(vault: Vault, req: Request, bxcontext: string): Promise<Notice | null> {
  const found = await vault.find({ userId: requireUser(req), bxcontext }).catch(() => null)
  if (!found) return null
  const { status, summary, name } = connectionView(found)
  return status === 'active' ? { text: texts.notices.connected(name) } : { text: summary, tone: 'wait' }
}
