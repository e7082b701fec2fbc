import { fileURLToPath } from 'node:url'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import type Provider from 'oidc-provider'
import { ACCOUNTS } from './accounts.ts'
import { notFound } from './api.ts'
import { connectedAppsRoutes } from './connected-apps.ts'
import { consentRoutes } from './consent.ts'
import { controlRoutes } from './control.ts'
import type { Action, RegisteredApp, SandboxCore, SandboxPart } from './feature.ts'
import { loginRoutes, readLogin } from './login.ts'
import { page, problem } from './pages.ts'
import { addressesOf, PLATFORM, SCOPES } from './platform.ts'
import { startPageRoutes } from './start-page.ts'

export interface SiteOptions {
  provider: Provider
  parts: SandboxPart[]
  openToAll: boolean
  /** The key that signs the login cookies, until the sandbox is reset. */
  loginSecret(): string
  /** Resets all data to the samples. */
  reset(): void
}

const assets = fileURLToPath(new URL('../../views/public', import.meta.url))

/** The sandbox's Express app: the API, the identity provider, and the pages. */
export function createSite(core: SandboxCore, options: SiteOptions): Express {
  const { provider, parts, openToAll, loginSecret, reset } = options
  const { apps, baseUrl } = core
  const app = express()
  app.disable('x-powered-by')
  app.locals.openToAll = openToAll
  app.locals.links = parts.flatMap(({ links = [] }) => links)
  app.locals.appUrl = core.appUrl
  app.use('/assets', express.static(assets))
  for (const { api } of parts) if (api) app.use('/api', api)
  // The platform always has catalogues, even if no feature simulates them: a call without a token gets 401.
  app.use(`/api${PLATFORM.apiCheckPath}`, ...core.guard(SCOPES.catalogues, 'catalogues'))
  app.use('/api', (_req, res) => notFound(res))
  app.use(headers(apps))
  app.use('/auth', provider.callback())
  app.use(rejectCrossSite)
  app.use(express.urlencoded({ extended: false, limit: '10kb' }))
  app.use(readLogin(loginSecret))
  app.get('/', (req, res) =>
    page(res, 'home', {
      title: 'Sandbox',
      account: req.account,
      accounts: ACCOUNTS,
      apps,
      addresses: addressesOf(baseUrl),
    }),
  )
  app.use(loginRoutes(loginSecret, requestingApp(apps)))
  app.use(startPageRoutes(apps))
  app.use(consentRoutes(core, provider))
  app.use(connectedAppsRoutes(core))
  for (const { routes } of parts) if (routes) app.use(routes)
  app.use(controlRoutes(core, actionsOf(core, parts, reset)))
  app.use((req, res) => problem(res, 404, 'There is no page at this address.', req.account))
  app.use(onError)
  return app
}

function actionsOf(
  { consents }: SandboxCore,
  parts: SandboxPart[],
  reset: () => void,
): Record<string, Action> {
  const expireParts = () => parts.reduce((sum, part) => sum + (part.expireAccessTokens?.() ?? 0), 0)
  return {
    expire: {
      label: 'Let all access run out',
      technical: 'expire all access tokens',
      run({ bxcontext }) {
        const business = typeof bxcontext === 'string' && bxcontext ? bxcontext : undefined
        const expired = consents.expireAccessTokens(business) + (business ? 0 : expireParts())
        const message = `Expired ${count(expired, 'access token')}. The app's next call gets a 401. Then the app refreshes the token and repeats the call.`
        return { expired, message }
      },
    },
    ...Object.assign({}, ...parts.map(({ actions }) => actions)),
    revoke: {
      label: 'Take all access back',
      technical: 'revoke all consents',
      danger: true,
      run({ bxcontext }) {
        const all = consents.list().filter((consent) => !bxcontext || consent.bxcontext === bxcontext)
        for (const { grantId } of all) consents.revoke(grantId)
        const message = `Revoked ${count(all.length, 'consent')}. At its next call, the app notices this and shows that access has ended.`
        return { revoked: all.length, message }
      },
    },
    reset: {
      label: 'Put the samples back',
      technical: 'reset the sandbox',
      danger: true,
      run() {
        reset()
        const message = 'The sandbox is back to its initial state: no consents, no faults, sample data only.'
        return { reset: true, message }
      },
    },
  }
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`

/** Finds the application for which the user logs in, by its redirect url in the address of the start page. */
const requestingApp = (apps: readonly RegisteredApp[]) => (next: string) => {
  const { pathname, searchParams } = new URL(next, 'http://sandbox.invalid')
  const { startPage } = PLATFORM
  const redirectUrl = pathname === startPage.path ? searchParams.get(startPage.redirectUrl) : null
  return apps.find(({ redirectUrls }) => redirectUrl !== null && redirectUrls.includes(redirectUrl))?.name
}

function headers(apps: readonly RegisteredApp[]): RequestHandler {
  // Chrome applies form-action even to redirects after a form post, and the consent page's form redirects to the application.
  const targets = apps.flatMap(({ redirectUrls }) => redirectUrls.map((url) => new URL(url).origin))
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        formAction: ["'self'", ...new Set(targets)],
      },
    },
    strictTransportSecurity: false,
  })
}

/** Stops other websites from submitting forms here, because the sandbox listens on the developer's own machine. */
const rejectCrossSite: RequestHandler = (req, res, next) => {
  const { host, origin } = req.headers
  const isOwn = origin === undefined || URL.parse(origin)?.host === host
  // As in the app: old browsers send only the origin, and `none` is no proof. Programs send neither header.
  const site = req.get('sec-fetch-site') ?? 'none'
  const isSameOrigin = site === 'same-origin' || (site === 'none' && isOwn)
  if (req.method === 'GET' || req.method === 'HEAD' || isSameOrigin) return next()
  problem(res, 403, 'This request came from another site and was rejected.')
}

const onError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error)
  const status = typeof error?.status === 'number' ? error.status : 500
  if (status >= 500) console.error(error)
  const message =
    status < 500
      ? 'The request could not be read.'
      : 'The sandbox itself has failed. Its terminal has the details.'
  problem(res, status, message)
}
