/**
 * The platform, simulated on the developer's own machine: a core with the start page, identity provider, connected apps
 * and faults, and a part for each feature. It is written from the specification and shares no code with the client
 * that it tests.
 */
import { randomBytes } from 'node:crypto'
import type { Express } from 'express'
import { createConsents } from './consents.ts'
import { openDatabase } from './database.ts'
import { CORE_FAULTS, createFaults } from './faults.ts'
import type { SandboxCore, SandboxFeature, SandboxPart } from './feature.ts'
import { createGuard } from './guard.ts'
import { createIdentity, type RegisteredApp, type Scopes } from './identity.ts'
import { createJournal } from './journal.ts'
import type { NamedSandboxFeature } from './load.ts'
import { createOidcAdapter } from './oidc-adapter.ts'
import { problem } from './pages.ts'
import { type Addresses, addressesOf, PLATFORM } from './platform.ts'
import type { RateLimit } from './rate-limit.ts'
import { sectionsOf } from './sections.ts'
import { createSite } from './site.ts'
import { createTokenExchanges } from './token-exchanges.ts'

export type { RegisteredApp } from './identity.ts'

export interface SandboxOptions {
  /** Where the sandbox is reached, without a trailing slash. */
  baseUrl: string
  apps: RegisteredApp[]
  /** Whether other machines may use it; every page then warns of it. */
  openToAll?: boolean
  /** Path of its database file; `:memory:` to keep nothing. */
  file: string
  /** Lifetime of an access token in seconds. */
  accessTokenSeconds?: number
  /** Response time of a token endpoint with the fault `slow`, in ms. */
  slowMs?: number
  /** The API's limit for each credential. */
  rateLimit?: RateLimit
  /** Options of the features, by name; each feature documents its own. Those of a feature that is not there are ignored. */
  features?: Record<string, unknown>
  /** What it simulates of the features: `loadSandboxFeatures`. */
  simulated: readonly NamedSandboxFeature[]
}

export interface Sandbox {
  app: Express
  addresses: Addresses
  close(): void
}

/** The name of the setting whose value signs the cookies of those who are logged in. */
const LOGIN_SECRET = 'login secret'

/** The origin of the first application's redirect URLs. */
const appUrlOf = ([app]: RegisteredApp[]) => new URL(app?.redirectUrls[0] ?? 'http://localhost').origin

/** Who calls with a token that one of the parts has issued. */
const byParts = (parts: readonly SandboxPart[]) => (token: string) => {
  for (const part of parts) {
    const caller = part.authenticate?.(token)
    if (caller) return caller
  }
  return undefined
}

/** The scopes and faults of the core and of the features that are simulated. */
function simulatedBy(features: readonly SandboxFeature[]) {
  const scopes: Scopes = Object.assign({}, PLATFORM.scopes, ...features.map((feature) => feature.scopes))
  const faultStates = Object.assign({}, CORE_FAULTS, ...features.map((feature) => feature.faults))
  return { scopes, faultStates }
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { baseUrl, apps, file, openToAll = false, slowMs = 6_000, accessTokenSeconds = 300 } = options
  const { rateLimit = { limit: 100, windowMs: 30_000 }, simulated, features = {} } = options
  const addresses = addressesOf(baseUrl)
  const schemas = simulated.map(({ schema = '' }) => schema)
  const { sql, setting, clear, close } = openDatabase(file, schemas)
  const consents = createConsents(sql)
  const { scopes, faultStates } = simulatedBy(simulated)
  const faults = createFaults(faultStates)
  const journal = createJournal()
  const tokenExchanges = createTokenExchanges()
  const provider = createIdentity({
    issuer: addresses.authUrl,
    apps,
    scopes,
    adapter: createOidcAdapter(sql),
    setting,
    consents,
    faults,
    journal,
    tokenExchanges,
    accessTokenSeconds,
    slowMs,
    renderError: problem,
  })
  const parts: SandboxPart[] = []
  const core: SandboxCore = {
    sql,
    guard: createGuard({ provider, consents, faults, journal, rateLimit, authenticate: byParts(parts) }),
    faults,
    journal,
    tokenExchanges,
    accessTokenSeconds,
    baseUrl,
    appUrl: appUrlOf(apps),
    sectionsAt: (place, subject) => sectionsOf(parts, place, subject),
  }
  for (const { name, create } of simulated) parts.push(create(core, features[name] ?? {}))
  const loginSecret = () => setting(LOGIN_SECRET, () => randomBytes(32).toString('base64url'))
  const reset = () => {
    clear()
    // Whoever was logged in is no longer.
    sql.run('DELETE FROM settings WHERE name = ?', LOGIN_SECRET)
    faults.clear()
    journal.clear()
    tokenExchanges.clear()
    for (const part of parts) part.reset?.()
  }
  const site = { core, parts, provider, apps, scopes, consents, addresses, openToAll }
  return {
    app: createSite({ ...site, loginSecret, reset }),
    addresses,
    close: () => {
      for (const part of parts) part.close?.()
      close()
    },
  }
}
