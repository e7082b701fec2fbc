/**
 * The platform, simulated on the developer's own machine. Its core has the start page, the identity provider, connected apps and
 * faults; each feature adds a part. It follows the specification, and shares no code with the client that it tests.
 */
import { randomBytes } from 'node:crypto'
import type { Express } from 'express'
import { createConsents } from './consents.ts'
import { openDatabase } from './database.ts'
import { CORE_FAULTS, createFaults } from './faults.ts'
import type { RegisteredApp, SandboxCore, SandboxPart, SandboxState } from './feature.ts'
import { createGuard, type RateLimit } from './guard.ts'
import { createIdentity } from './identity.ts'
import { createJournal } from './journal.ts'
import type { NamedSandboxFeature } from './load.ts'
import { type Addresses, addressesOf, PLATFORM } from './platform.ts'
import { sectionsOf } from './sections.ts'
import { createSite } from './site.ts'

export type { RegisteredApp } from './feature.ts'

export interface SandboxOptions {
  /** Where browsers reach the sandbox, without a trailing slash. All its links and its issuer begin with it. */
  baseUrl: string
  apps: RegisteredApp[]
  /** Whether other machines may use the sandbox. If so, every page shows a warning. */
  openToAll?: boolean
  /** Path of its database file; `:memory:` to keep no data. */
  file: string
  /** Lifetime of an access token in seconds. */
  accessTokenSeconds?: number
  /** Response time of a token endpoint with the fault `slow`, in ms. */
  slowMs?: number
  /** The API's limit for each credential. */
  rateLimit?: RateLimit
  /** Options of the features, by name. Each feature documents its own. Options of missing features are ignored. */
  features?: Record<string, unknown>
  /** The sandbox's part of each feature, from `loadSandboxFeatures`. */
  simulated: readonly NamedSandboxFeature[]
}

export interface Sandbox {
  app: Express
  addresses: Addresses
  close(): void
}

/** The name of the stored value that signs the login cookies. */
const LOGIN_SECRET = 'login secret'

export function createSandbox(options: SandboxOptions): Sandbox {
  const { baseUrl, apps, file, openToAll = false, slowMs = 6_000, accessTokenSeconds = 300 } = options
  const { rateLimit = { limit: 100, windowMs: 30_000 }, simulated, features = {} } = options
  const { sql, setting, clear, close } = openDatabase(
    file,
    simulated.map(({ schema = '' }) => schema),
  )
  const state: SandboxState = {
    sql,
    setting,
    consents: createConsents(sql),
    faults: createFaults(Object.assign({}, CORE_FAULTS, ...simulated.map((feature) => feature.faults))),
    journal: createJournal(),
    apps,
    scopes: Object.assign({}, PLATFORM.scopes, ...simulated.map((feature) => feature.scopes)),
    accessTokenSeconds,
    slowMs,
    baseUrl,
    appUrl: new URL(apps[0]?.redirectUrls[0] ?? 'http://localhost').origin,
  }
  const provider = createIdentity(state)
  const parts: SandboxPart[] = []
  const core: SandboxCore = {
    ...state,
    guard: createGuard(state, provider, parts, rateLimit),
    sectionsAt: (place, subject) => sectionsOf(parts, place, subject),
  }
  for (const { name, create } of simulated) parts.push(create(core, features[name] ?? {}))
  for (const part of parts) part.reset?.()
  const loginSecret = () => setting(LOGIN_SECRET, () => randomBytes(32).toString('base64url'))
  const reset = () => {
    clear()
    // Logs all users out.
    sql.run('DELETE FROM settings WHERE name = ?', LOGIN_SECRET)
    for (const kept of [state.faults, state.journal]) kept.clear()
    for (const part of parts) part.reset?.()
  }
  return {
    app: createSite(core, { provider, parts, openToAll, loginSecret, reset }),
    addresses: addressesOf(baseUrl),
    close: () => {
      for (const part of parts) part.close?.()
      close()
    },
  }
}
