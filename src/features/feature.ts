import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Connect, ConnectionRef, EncryptionKey, KeyValueStore } from '../connect/index.ts'
import type { Http, HttpPools } from '../connect/platform/http.ts'
import type { ReencryptResult } from '../connect/vault/connection-repository.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { ConnectionTest } from '../web/connection-actions.ts'
import type { Operation } from '../web/openapi.ts'

/**
 * A removable part of the app, in its own folder under `src/features`. `index.ts` lists the features; the app, the
 * settings, the doctor and the demo only use that list. `npm run remove-feature` removes one.
 */
export interface Feature<Settings = unknown> {
  /** The name of its folders: here, and under `views`, `test/features` and `src/sandbox/features`. */
  readonly name: string
  /** Other features that its code, its sandbox part or its tests import. */
  readonly needs?: readonly string[]
  /** Its settings, read together with those of the core so that all problems are reported at once. */
  readonly settings?: SettingsGroup<Settings>
  /** Its operations, for `/openapi.json`. */
  readonly operations?: readonly Operation[]
  /** Creates what it adds to a running app. */
  create?(context: FeatureContext, settings: Settings): FeatureParts
  /** Runs its checks for `npm run doctor`. */
  check?(context: CheckContext, settings: Settings): Promise<Finding[]>
  /** Prepares its files in `DATA_DIR` for `npm run demo`. */
  prepareDemo?(dataDir: string): Promise<void>
}

/** What a feature can use. */
export interface FeatureContext {
  readonly connect: Connect
  readonly http: HttpPools
  readonly store: KeyValueStore
  readonly log: Logger
  /** The app's public origin, without a trailing slash. */
  readonly baseUrl: string
  /** The folder for files (`DATA_DIR`). */
  readonly dataDir: string
  /** Keys for secrets in the store: the first encrypts, all of them decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[]
  readonly platform: {
    authUrl: string
    apiUrl: string
    clientId: string
    pkce: boolean
    /** The limit per credential; null: no limit. */
    rateLimit: { limit: number; windowMs: number } | null
  }
  /** The sandbox's address, if the platform is the sandbox. */
  readonly sandboxUrl: string | undefined
  /** Aborted on shutdown, to close long-lived work such as server-sent events. */
  readonly shutdownSignal: AbortSignal
  /** Returns the sections that all features add to a page, such as `catalogues/catalogue`. */
  sections(page: string): PageSection[]
  /** Returns the tests of connections that all features offer. */
  connectionTests(): ConnectionTest[]
}

/** What the checks of a feature can use. */
export interface CheckContext {
  /** Goes through the proxies, with short timeouts. */
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
}

/** What a feature adds to a running app; all of it is optional. */
export interface FeatureParts {
  /** Mounted before the browser middleware, for servers that authenticate with tokens or signatures. */
  serverRoutes?: RequestHandler
  /** Mounted after sessions and CSRF protection and before all routes for browsers; must call `next`. */
  middleware?: RequestHandler
  /**
   * Routes for signed-in users, mounted after sessions and CSRF protection. A handler must call `connectionRef` or
   * `requireUser`, which throw if the user is not signed in.
   */
  routes?: RequestHandler
  /** Links in the header of every page for signed-in users. */
  navigation?: { href: string; label: string }[]
  /** Returns the links for the card of an active connection. */
  connectionLinks?(ref: ConnectionRef): Promise<ConnectionLink[]>
  /** A cheap call for the button "Test this connection"; the first feature whose scope is granted is used. */
  connectionTest?: ConnectionTest
  /** A control beside “Connect an account” on the list of connections. */
  connectControl?: { view: string; load(req: Request): Promise<Record<string, unknown>> }
  sections?: PageSection[]
  /** Called when the app is listening. */
  start?(): void
  /** Stops background work. The store and the platform are still reachable. */
  close?(): Promise<void>
  /** Re-encrypts its records with the first key (`npm run reencrypt`). */
  reencrypt?(): Promise<ReencryptResult>
}

export interface ConnectionLink {
  /** Path relative to the connection, such as `/leads`. */
  path: string
  label: string
  /** Number of pending entries, shown next to the label unless it is 0. */
  count?: number
}

/** A section that a feature adds to a page of another feature. */
export interface PageSection {
  /** Template of the page, such as `catalogues/catalogue`. */
  page: string
  /** Template of the section; it receives the page's data and the result of `load`. */
  view: string
  /** Loads `data` for the templates and `json` for the JSON response. */
  load(
    req: Request,
    ref: ConnectionRef,
    id: string,
  ): Promise<{ data: Record<string, unknown>; json: Record<string, unknown> }>
}

/** One result of `npm run doctor`; `docs/troubleshooting.md` has each id with its cure. */
export interface Finding {
  /** Stable, for scripts: `consent.client-id`. */
  id: string
  /** `warning`: the app works, but something should be changed or could not be proven. */
  status: 'ok' | 'warning' | 'failure'
  /** One line: what was checked, what came back, and what to change. */
  text: string
  /** The setting to change. */
  setting?: string
  /** Its likely value, if that can be told and is no secret. */
  value?: string
}
