import type { Router } from 'express'
import type { Logger } from 'pino'
import type { Assumption, Connect, ConnectionRef, Http, HttpPools, Reencryption } from '../connect/index.ts'
import type { KeyValueStore } from '../connect/stores.ts'
import type { Config } from '../settings/config.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { ConnectionTest } from './pages/connection-actions.ts'
import type { ConnectionLink } from './pages/connections.ts'
import type { PageSection } from './pages/pages.ts'

/**
 * A removable part of the app. It is the folder `src/features/NAME`, whose `index.ts` default-exports this value. The app finds
 * it by its place (`src/features/load.ts`): no list names it. What tools need of it is imported on demand, such as
 * `check: () => import('./check.ts')` (`Tools`). Its other folders have the same name: `views/NAME`, `test/features/NAME` and
 * `src/sandbox/features/NAME`. Its page is `docs/NAME.md`.
 */
export interface Feature<Settings = unknown> extends Tools<Settings> {
  /** What it does, in half a sentence, for those who choose features. */
  readonly title: string
  /** The place of its links among those of other features. The lowest number comes first. */
  readonly order: number
  /** The features that its code, its sandbox part or its tests import. */
  readonly needs?: readonly string[]
  /** Its settings, read together with those of the core so that all problems are reported at once. */
  readonly settings?: SettingsGroup<Settings>
  /** The scopes that it needs, each with the reason for the platform's support team, which begins with "to". */
  readonly scopes?: Readonly<Record<string, string>>
  /** What it assumes of the platform, and the paths of its operations: `contract.ts`. */
  readonly contract?: {
    readonly assumptions: readonly Assumption[]
    readonly paths?: Readonly<Record<string, PathOf>>
  }
  /** A cheap call for the button "Test this connection"; the first feature whose scope is granted is used, or else the first feature. */
  readonly connectionTest?: ConnectionTest
  /** Whether it calls `emailOf`. If it does, a sign-in by OpenID Connect keeps the addresses of users. */
  mailsUsers?(settings: Settings): boolean
  /** Creates what it adds to a running app. */
  create?(deps: FeatureDeps, settings: Settings): FeatureParts | Promise<FeatureParts>
}

/** A path below `{base_url}`, or a function that makes one from ids. */
export type PathOf = string | ((...ids: string[]) => string)

/** What a feature can use. */
export interface FeatureDeps {
  /** The settings of the core, with their secrets. */
  readonly config: Config
  readonly connect: Connect
  readonly http: HttpPools
  readonly store: KeyValueStore
  readonly log: Logger
  /** Whether users sign in by the demo's form, under any name. */
  readonly hasDemoSignIn: boolean
  /** Resolves to the address for mail to a user, as the sign-in knows it, or null. It may be any text. */
  emailOf(userId: string): Promise<string | null>
  /** Aborted on shutdown, to end work in the background. */
  readonly shutdownSignal: AbortSignal
}

/** A router, and where `app.ts` mounts it: `app.use(path, router)`. */
export interface Part {
  /** In the syntax of Express, such as `/connections/:bxcontext/leads`. The log and the metrics name it. */
  path: string
  /** Its routes, and those of routers that it uses without a path, are below the path. Routes below another path are another part. */
  router: Router
  /**
   * Puts the guard before the router: the signed-in user must have the connection `:bxcontext` of the path, and its access must not
   * have ended. Handlers then call `connectionRef`, which throws without the guard.
   */
  needsConnection?: boolean
  /** Whether its pages are for developers: while these are hidden from customers, they do not exist. */
  isForDevelopers?: boolean
}

/** What a feature adds to a running app; all of it is optional. */
export interface FeatureParts {
  /** Mounted before the browser middleware, for servers that authenticate with tokens or signatures. */
  serverRoutes?: Part[]
  /**
   * Mounted after sessions and CSRF protection. Handlers of a part without `needsConnection` must call `requireUser`, which throws if
   * no user is signed in. A part at `/connect` sees the requests of connect flows before the core does, and passes them on.
   */
  routes?: Part[]
  /** Links in the header of every page for signed-in users. Those for developers are in one menu, which customers do not see. */
  navigation?: { href: string; label: string; isForDevelopers?: boolean }[]
  /** Returns the links for the card of a connection that may work. */
  connectionLinks?(ref: ConnectionRef): Promise<ConnectionLink[]>
  /** What it adds to pages of the app and of other features. */
  sections?: PageSection[]
  /** Called when the app is listening. The store may not be there yet. */
  start?(): void
  /** Stops background work. The store and the platform are still reachable. */
  stop?(): Promise<void>
}

/** What the check of a feature can use. */
export interface CheckContext {
  /** Goes through the proxies, with short timeouts. */
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
  /** Whether the platform is the sandbox. */
  readonly isSandbox: boolean
  /** The finding for a server at `address` that did not answer, whose error has this code or message. */
  noAnswer(setting: string, address: string, error: string): Finding
}

/** One result of a check; the documentation has each id with its cure. */
export interface Finding {
  /** Stable, for scripts, such as `consent.client-id`. */
  id: string
  /** `warning`: the app works, but something should be changed or could not be proven. */
  status: 'ok' | 'warning' | 'failure'
  /** One line: what was checked, what came back, and what to change. */
  text: string
  /** The setting to change. */
  setting?: string
  /** The value that it probably needs, if that is known and is no secret. */
  value?: string
}

/** A figure that goes up and down. A label must not have many values: no user id, and no bxcontext. */
export interface Gauge {
  /** Such as `connect_connections`. */
  name: string
  help: string
  values: { labels: Readonly<Record<string, string>>; value: number }[]
}

/** What tools need of a feature. Each is the default export of a file. `settings` are those of the feature. */
export interface Tools<Settings = unknown> {
  /** Checks its settings and the platform, changing nothing. A problem is a finding, not an error. */
  check?(): Tool<(context: CheckContext, settings: Settings) => Promise<Finding[]>>
  /** Prepares its files in `DATA_DIR` for `npm run demo`. */
  demo?(): Tool<(dataDir: string) => Promise<void>>
  /** Its figures of this process for `/metrics`. */
  gauges?(): Tool<(deps: FeatureDeps, settings: Settings) => Promise<Gauge[]>>
  /** Re-encrypts its records with the first key (`npm run reencrypt`). */
  reencrypt?(): Tool<(deps: FeatureDeps) => AsyncIterable<Reencryption>>
  /**
   * Deletes the user's data that is outside the store, or stored under another owner (`npm run users -- delete`). It is
   * also called if the store has nothing about the user.
   */
  deleteUser?(): Tool<(deps: FeatureDeps, settings: Settings, userId: string) => Promise<void>>
  /** Resolves to the same data, for the JSON of `npm run users -- export`; null if there is none. */
  exportUser?(): Tool<(deps: FeatureDeps, settings: Settings, userId: string) => Promise<unknown>>
}

/** A module whose default export is the tool. */
type Tool<Run> = Promise<{ readonly default: Run }>

/** A tool by its name, such as `ToolOf<'check'>`. */
export type ToolOf<Name extends keyof Tools> = Awaited<ReturnType<NonNullable<Tools[Name]>>>['default']
