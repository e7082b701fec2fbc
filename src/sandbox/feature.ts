import type { RequestHandler, Router } from 'express'
import type { Consents } from './consents.ts'
import type { Sql } from './database.ts'
import type { Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import type { Place, Section } from './sections.ts'

/**
 * What the sandbox simulates for one feature of the app. The folder `features/NAME` has the name of the feature, and its
 * `index.ts` default-exports this value. A group may also have one for all of its features.
 */
export interface SandboxFeature {
  /** Its scopes, each with its description on the consent page. */
  scopes?: Readonly<Record<string, string>>
  /** SQL of its tables. */
  schema?: string
  /** Its endpoints, and the faults that the control page can set on each. */
  faults?: Record<string, readonly string[]>
  /** `options` come from createSandbox, or from `appOptions` and `demoOptions`; the part parses them. */
  create(core: SandboxCore, options: unknown): SandboxPart
  /** Defaults of the environment variables that it shares with the app, for `npm run demo` and `npm run sandbox`. */
  demoEnv?: Record<string, string>
  /** Its options for an app at this address, with these environment variables. */
  appOptions?(env: Record<string, string | undefined>, appUrl: string): object
  /** Further options for `npm run demo` and `npm run sandbox`, so that there is something to show. */
  demoOptions?(): object
}

/** An application as platform support registers it. */
export interface RegisteredApp {
  name: string
  /** Path of its logo among the sandbox's assets, shown on the consent page. */
  logo?: string
  clientId: string
  clientSecret: string
  /** Without a query string: the url that receives bxcontext, and the redirect_uri of the consent. */
  redirectUrls: string[]
}

/** What all of a sandbox shares. */
export interface SandboxState {
  sql: Sql
  consents: Consents
  faults: Faults
  journal: Journal
  apps: readonly RegisteredApp[]
  /** The platform's scopes, each with its description on the consent page. */
  scopes: Readonly<Record<string, string>>
  /** A stored setting; the first call creates it. */
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

/** Who calls the API. */
export interface Caller {
  /** The business that the token acts for. */
  bxcontext: string
  /** The rate limit counts calls for each credential. */
  credential: string
  /** The granted scopes; null if all are granted. */
  scopes: string[] | null
  /** A further check of the request. */
  check?: RequestHandler
}

/** Middleware of the API for a scope. `endpoint`: the name in the journal and in faults. */
export type Guard = (scope: string, endpoint: string) => RequestHandler[]

/** What the core offers to parts. */
export interface SandboxCore extends SandboxState {
  guard: Guard
  /** What the parts add to a page of this part. */
  sectionsAt<Subject>(place: Place<Subject>, subject: Subject): { view: string; data: object }[]
}

/** A quick action of the control page. */
export interface Action {
  /** The button, in words for everybody, and the technical words beside it. */
  label: string
  technical: string
  danger?: boolean
  /** Returns the JSON of the response; `message` says what it did and what happens next. */
  run(body: Record<string, unknown>): { message: string }
}

/** What a feature adds to one sandbox. */
export interface SandboxPart {
  /** Below /api. */
  api?: Router
  /** Pages, for browsers. */
  routes?: Router
  /** Menu entries for those who are logged in. */
  links?: { href: string; label: string }[]
  /** What it adds to pages of the core and of the parts that it imports. */
  sections?: Section[]
  /** Quick actions of the control page, by their path below /sandbox. */
  actions?: Record<string, Action>
  /** Recognises API tokens that the identity provider did not issue. */
  authenticate?(token: string): Caller | undefined
  /** Expires such tokens; returns how many. */
  expireAccessTokens?(): number
  /** Adds its missing samples, and resets what it has in memory. Called at the start, and after all tables were emptied. */
  reset?(): void
  close?(): void
}
