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
import { connectedAppsRoutes } from './connected-apps.ts'
import { consentRoutes } from './consent.ts'
import { controlRoutes } from './control.ts'
import { openDatabase } from './database.ts'
import { createFaults } from './faults.ts'
import { createIdentity, type RegisteredApp } from './identity.ts'
import { createJournal } from './journal.ts'
import { loginRoutes, readLogin } from './login.ts'
import { page, problem } from './pages.ts'
import { startPageRoutes } from './start-page.ts'

export type { RegisteredApp } from './identity.ts'

export interface SandboxOptions {
  /** Where the sandbox is reached, without a closing slash. */
  baseUrl: string
  apps: RegisteredApp[]
  /** Path of its database file; `:memory:` to forget everything at the end. */
  file: string
  /** Life of an access token in seconds. */
  accessTokenSeconds?: number
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

export function createSandbox({ baseUrl, apps, file, accessTokenSeconds = 300 }: SandboxOptions): Sandbox {
  const addresses = addressesOf(baseUrl)
  const database = openDatabase(file)
  const secret = database.setting('login secret', () => randomBytes(32).toString('base64url'))
  const faults = createFaults()
  const journal = createJournal()
  const provider = createIdentity({
    ...{ issuer: addresses.authUrl, apps, database, faults, journal, accessTokenSeconds },
    renderError: problem,
  })

  const app = express()
  app.disable('x-powered-by')
  app.use('/assets', express.static(assets))
  app.use('/api', apiRoutes({ provider, database, faults, journal }))
  app.use(headers(apps))
  app.use('/auth', provider.callback())
  app.use(refuseCrossSite)
  app.use(express.urlencoded({ extended: false, limit: '10kb' }))
  app.use(readLogin(secret))
  app.get('/', (req, res) =>
    page(res, 'home', { title: 'Sandbox', account: req.account, accounts: ACCOUNTS, apps, addresses }),
  )
  app.use(loginRoutes(secret))
  app.use(startPageRoutes(apps))
  app.use(consentRoutes({ provider, apps, database, faults }))
  app.use(connectedAppsRoutes(apps, database))
  app.use(controlRoutes({ faults, journal, database }))
  app.use((req, res) => problem(res, 404, 'There is no page at this address.', req.account))
  app.use(onError)
  return { app, addresses, close: () => database.close() }
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
