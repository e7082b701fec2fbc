/**
 * The platform, played on the developer's own machine: start page, identity provider, API, connected apps, faults.
 * It is written from the specification and shares no code with the client that it is there to test.
 */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import { ACCOUNTS } from './accounts.ts'
import { apiRoutes } from './api.ts'
import { createBuilderData } from './builder-data.ts'
import { businessSetupRoutes } from './business-setup.ts'
import { createCatalogueData, type ImportTiming, type Sample } from './catalogue-data.ts'
import { connectedAppsRoutes } from './connected-apps.ts'
import { consentRoutes } from './consent.ts'
import { controlRoutes } from './control.ts'
import { createGuard } from './credentials.ts'
import { openDatabase } from './database.ts'
import { createFaults } from './faults.ts'
import { createFirstPartyTokens } from './first-party.ts'
import { createIdentity, type RegisteredApp } from './identity.ts'
import { createJournal } from './journal.ts'
import { createLivePricing, type LivePricing } from './live-pricing.ts'
import { loginRoutes, readLogin } from './login.ts'
import { page, problem } from './pages.ts'
import type { RateLimit } from './rate-limit.ts'
import { startPageRoutes } from './start-page.ts'
import { suppliersRoutes } from './suppliers.ts'
import { createWebhooks, type Webhook } from './webhooks.ts'

export type { RegisteredApp } from './identity.ts'

export interface SandboxOptions {
  /** Where the sandbox is reached, without a closing slash. */
  baseUrl: string
  apps: RegisteredApp[]
  /** Whether other machines may use it: then every page says so. */
  openToAll?: boolean
  /** Path of its database file; `:memory:` to forget everything at the end. */
  file: string
  /** Life of an access token in seconds. */
  accessTokenSeconds?: number
  /** The API's limit for each credential. */
  rateLimit?: RateLimit
  /** How fast import jobs go. */
  importTiming?: ImportTiming
  /** Webhooks that are registered already, by the business's context. */
  webhooks?: Record<string, Webhook>
  /** Live pricing that is registered already, by the supplier's context. */
  livePricing?: Record<string, LivePricing>
  /** Catalogues that are published already, by the supplier's context. */
  samples?: Record<string, Sample>
  /** Builders that suppliers have accepted already. */
  connected?: { builder: string; supplier: string; externalRef: string }[]
}

export interface Sandbox {
  app: Express
  addresses: ReturnType<typeof addressesOf>
  close(): void
}

/** The platform's three addresses, of a sandbox at this base url. */
export function addressesOf(baseUrl: string) {
  return { appUrl: baseUrl, authUrl: `${baseUrl}/auth`, apiUrl: `${baseUrl}/api` }
}

const assets = fileURLToPath(new URL('../../views/public', import.meta.url))

export function createSandbox(options: SandboxOptions): Sandbox {
  const { baseUrl, apps, file, accessTokenSeconds = 300 } = options
  const { rateLimit = { limit: 100, windowMs: 30_000 } } = options
  const { importTiming = { itemsPerSecond: 20_000, settleMs: 2_000 } } = options
  const addresses = addressesOf(baseUrl)
  const database = openDatabase(file)
  const secret = database.setting('login secret', () => randomBytes(32).toString('base64url'))
  const faults = createFaults()
  const journal = createJournal()
  const provider = createIdentity({
    ...{ issuer: addresses.authUrl, apps, database, faults, journal, accessTokenSeconds },
    renderError: problem,
  })
  const firstParty = createFirstPartyTokens(database.sql, accessTokenSeconds)
  const catalogues = createCatalogueData(database.sql, importTiming)
  const builders = createBuilderData(database.sql, catalogues)
  const webhooks = createWebhooks(database.sql)
  for (const [context, { url, secret }] of Object.entries(options.webhooks ?? {}))
    webhooks.register(context, url, secret)
  const livePricing = createLivePricing(database.sql, journal)
  for (const [context, registered] of Object.entries(options.livePricing ?? {}))
    livePricing.registerDefault(context, registered)
  for (const [context, sample] of Object.entries(options.samples ?? {})) catalogues.publish(context, sample)
  for (const { builder, supplier, externalRef } of options.connected ?? [])
    builders.connect(builder, supplier, externalRef)
  const guard = createGuard({ provider, database, firstParty, faults, journal, rateLimit })

  const app = express()
  app.disable('x-powered-by')
  app.locals.openToAll = options.openToAll ?? false
  app.use('/assets', express.static(assets))
  app.use('/api', apiRoutes({ database, guard, catalogues, builders, faults, journal, tokens: firstParty }))
  app.use(headers(apps))
  app.use('/auth', provider.callback())
  app.use(refuseCrossSite)
  app.use(express.urlencoded({ extended: false, limit: '10kb' }))
  app.use(readLogin(secret))
  app.get('/', (req, res) =>
    page(res, 'home', { title: 'Sandbox', account: req.account, accounts: ACCOUNTS, apps, addresses }),
  )
  app.use(loginRoutes(secret, askingApp(apps)))
  app.use(startPageRoutes(apps))
  app.use(consentRoutes({ provider, apps, database, faults }))
  app.use(connectedAppsRoutes(apps, database))
  app.use(businessSetupRoutes(webhooks, livePricing))
  app.use(suppliersRoutes({ builders, catalogues, webhooks, livePricing }))
  app.use(controlRoutes({ faults, journal, database, firstParty, catalogues }))
  app.use((req, res) => problem(res, 404, 'There is no page at this address.', req.account))
  app.use(onError)
  return {
    ...{ app, addresses },
    close: () => {
      webhooks.close()
      database.close()
    },
  }
}

/** Which application a login goes on to: the start page's address names its redirect url. */
const askingApp = (apps: RegisteredApp[]) => (next: string) => {
  const { pathname, searchParams } = new URL(next, 'http://sandbox.invalid')
  const redirectUrl = pathname === '/oauth2.html' ? searchParams.get('redirectUrl') : null
  return apps.find(({ redirectUrls }) => redirectUrl !== null && redirectUrls.includes(redirectUrl))?.name
}

function headers(apps: RegisteredApp[]): RequestHandler {
  // Chrome applies form-action to the redirects after a form post: the consent ends at the application.
  const targets = apps.flatMap(({ redirectUrls }) => redirectUrls.map((url) => new URL(url).origin))
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        ...{ defaultSrc: ["'none'"], styleSrc: ["'self'"], imgSrc: ["'self'"], baseUri: ["'none'"] },
        ...{ frameAncestors: ["'none'"], formAction: ["'self'", ...new Set(targets)] },
      },
    },
    strictTransportSecurity: false,
  })
}

/** Another site's page must not press buttons here: the sandbox listens on the developer's own machine. */
const refuseCrossSite: RequestHandler = (req, res, next) => {
  const from = req.get('sec-fetch-site') ?? 'none'
  if (req.method === 'GET' || req.method === 'HEAD' || from === 'same-origin' || from === 'none')
    return next()
  problem(res, 403, 'This request came from another site and was not carried out.')
}

const onError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error)
  const status = typeof error?.status === 'number' ? error.status : 500
  if (status >= 500) console.error(error)
  problem(
    res,
    status,
    status < 500
      ? 'The request could not be read.'
      : 'The sandbox itself has failed; its terminal says more.',
  )
}
