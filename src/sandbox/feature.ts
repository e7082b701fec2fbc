import type { RequestHandler, Router } from 'express'
import type { Consents } from './consents.ts'
import type { Sql } from './database.ts'
import type { Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { Place, Section } from './sections.ts'

/**
 * The simulation of a feature of the app. Its folder `features/NAME` has the name of the feature, and its `index.ts`
 * default-exports this value. A group may also have an `index.ts`, for all of its features.
 */
export interface SandboxFeature {
  /** The feature's scopes, each with its description on the consent page. */
  scopes?: Readonly<Record<string, string>>
  /** SQL that creates its tables. */
  schema?: string
  /** Its endpoints, and the faults that the control page offers for each. */
  faults?: Record<string, readonly string[]>
  /** `options` come from createSandbox, or from `appOptions` and `demoOptions`; the part parses them. */
  create(core: SandboxCore, options: unknown): SandboxPart
  /** Defaults of the environment variables that it shares with the app, for `npm run demo` and `npm run sandbox`. */
  demoEnv?: Record<string, string>
  /** Its options for an app at this address with these environment variables. */
  appOptions?(env: Record<string, string | undefined>, appUrl: string): object
  /** Additional options for `npm run demo` and `npm run sandbox`, which provide sample data. */
  demoOptions?(): object
}

/** An application's registration with platform support. */
export interface RegisteredApp {
  name: string
  /** Path of its logo among the sandbox's assets, shown on the consent page. */
  logo?: string
  clientId: string
  clientSecret: string
  /** The url that receives bxcontext, and the redirect_uri of the consent, both without a query string. */
  redirectUrls: string[]
}

/** The context that all parts of a sandbox share. */
export interface SandboxState {
  sql: Sql
  consents: Consents
  faults: Faults
  journal: Journal
  apps: readonly RegisteredApp[]
  /** The platform's scopes, each with its description on the consent page. */
  scopes: Readonly<Record<string, string>>
  /** Returns a stored setting, which the first call creates. */
  setting(name: string, create: () => string): string
  /** Lifetime of an access token in seconds. */
  accessTokenSeconds: number
  /** Response time of a slow token endpoint, in ms. */
  slowMs: number
  /** Where browsers reach the sandbox, without a trailing slash. */
  baseUrl: string
  /** The address of the registered application. */
  appUrl: string
}

/** The caller of the API. */
export interface Caller {
  /** The business that the token acts for. */
  bxcontext: string
  /** The credential for which the rate limit counts calls. */
  credential: string
  /** The granted scopes; null if all are granted. */
  scopes: string[] | null
  /** An additional check of the request. */
  check?: RequestHandler
}

/** Middleware of the API for a scope. `endpoint`: the name in the journal and in faults. */
export type Guard = (scope: string, endpoint: string) => RequestHandler[]

/** The core's services for parts. */
export interface SandboxCore extends SandboxState {
  guard: Guard
  /** The sections that other parts add to a page of this part. */
  sectionsAt<Subject>(place: Place<Subject>, subject: Subject): { view: string; data: object }[]
}

/** A quick action of the control page. */
export interface Action {
  /** The button's label in plain words, and the technical term next to it. */
  label: string
  technical: string
  danger?: boolean
  /** Returns the JSON of the response; `message` describes the result and the next step. */
  run(body: Record<string, unknown>): { message: string }
}

/** A feature's additions to a sandbox. */
export interface SandboxPart {
  /** Routes below /api. */
  api?: Router
  /** Routes of pages for browsers. */
  routes?: Router
  /** Menu entries for logged-in users. */
  links?: { href: string; label: string }[]
  /** Its sections on pages of the core and of the parts that it imports. */
  sections?: Section[]
  /** Quick actions of the control page, by their path below /sandbox. */
  actions?: Record<string, Action>
  /** Recognises API tokens that the identity provider did not issue. */
  authenticate?(token: string): Caller | undefined
  /** Expires such tokens; returns how many. */
  expireAccessTokens?(): number
  /** Adds missing samples, and resets its data in memory. Called at the start, and after all tables were emptied. */
  reset?(): void
  close?(): void
}
