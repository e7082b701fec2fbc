import type { Router } from 'express'
import type { Action } from './control.ts'
import type { Sql } from './database.ts'
import type { Faults } from './faults.ts'
import type { Caller, Guard } from './guard.ts'
import type { Journal } from './journal.ts'
import type { Place, Section } from './sections.ts'
import type { TokenExchanges } from './token-exchanges.ts'

/**
 * What the sandbox simulates for one feature of the app: the folder `features/NAME`, with the feature's name, whose `index.ts`
 * default-exports this value.
 */
export interface SandboxFeature {
  /** Its scopes, each with its description on the consent page. */
  scopes?: Readonly<Record<string, string>>
  /** SQL of its tables. */
  schema?: string
  /** Its endpoints, and the faults that the control page can set on each. */
  faults?: Record<string, readonly string[]>
  /** `options` come from createSandbox or from `demoOptions`; the part parses them. */
  create(core: SandboxCore, options: unknown): SandboxPart
  /** Defaults of the environment variables that it shares with the app, for `npm run demo` and `npm run sandbox`. */
  demoEnv?: Record<string, string>
  /** Its options for these commands, from the environment. */
  demoOptions?(env: Record<string, string | undefined>, appUrl: string): unknown
}

/** What the core offers to parts. */
export interface SandboxCore {
  sql: Sql
  guard: Guard
  faults: Faults
  journal: Journal
  tokenExchanges: TokenExchanges
  /** Lifetime of an access token in seconds. */
  accessTokenSeconds: number
  /** Where the sandbox is reached, without a trailing slash. */
  baseUrl: string
  /** The address of the registered application. */
  appUrl: string
  /** What the parts add to a page of this part. */
  sectionsAt<Subject>(place: Place<Subject>, subject: Subject): { view: string; data: object }[]
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
  /** Puts its data back to the samples; its tables are empty. */
  reset?(): void
  close?(): void
}
