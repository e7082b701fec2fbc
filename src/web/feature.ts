import type { Router } from 'express'
import type { Logger } from 'pino'
import type { Assumption, Connect, ConnectionRef, Http, HttpPools } from '../connect/index.ts'
import type { KeyValueStore } from '../connect/stores.ts'
import type { Config } from '../settings/config.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { ConnectionTest } from './pages/connection-actions.ts'
import type { ConnectionLink } from './pages/connections.ts'
import type { PageSection } from './pages/pages.ts'
import type { SignIn } from './sign-in/sign-in.ts'

/**
 * A removable part of the app. It is the folder `src/features/NAME`, whose `index.ts` default-exports this value. The app finds it
 * by its location (`src/features/load.ts`), so you don't register it. Its tools are imported on demand, such as `check: () =>
 * import('./check.ts')` (`Tools`). Its other folders have the same name: `views/NAME`, `test/features/NAME` and
 * `src/sandbox/features/NAME`. Its documentation is `docs/NAME.md`.
 */
export interface Feature<Settings = unknown> extends Tools<Settings> {
  /** Its purpose in half a sentence, for choosing features. */
  readonly title: string
  /** The position of its links among the links of other features. The lowest number comes first. */
  readonly order: number
  /** The features that its code, its sandbox part or its tests import. */
  readonly needs?: readonly string[]
  /** Its settings. They are read together with the core's settings, so that all problems are reported at once. */
  readonly settings?: SettingsGroup<Settings>
  /** The scopes that it needs, each with a reason for the platform's support team that begins with "to". */
  readonly scopes?: Readonly<Record<string, string>>
  /** Its assumptions about the platform, and the paths of its operations, from its `contract.ts`. */
  readonly contract?: {
    readonly assumptions: readonly Assumption[]
    readonly paths?: Readonly<Record<string, PathOf>>
  }
  /** A cheap call for the button "Test this connection". The first feature whose scope is granted counts, or else the first. */
  readonly connectionTest?: ConnectionTest
  /** Creates the parts that it adds to a running app. */
  create?(deps: FeatureDeps, settings: Settings): FeatureParts | Promise<FeatureParts>
}

/** A path below `{base_url}`, or a function that builds the path from ids. */
export type PathOf = string | ((...ids: string[]) => string)

/** The parts of the app that a feature can use. */
export interface FeatureDeps {
  /** All settings of the app, with their secrets. `create` gets the feature's own settings as its second parameter. */
  readonly config: Config
  readonly connect: Connect
  readonly http: HttpPools
  readonly store: KeyValueStore
  readonly log: Logger
  readonly signIn: Pick<SignIn, 'isDemo' | 'useEmails'>
  /** Aborted on shutdown, to end work in the background. */
  readonly shutdownSignal: AbortSignal
}

/** A router, and the path at which `app.ts` mounts it: `app.use(path, router)`. */
export interface Part {
  /** In the syntax of Express, such as `/connections/:bxcontext/leads`. The log and the metrics contain it. */
  path: string
  /** All its routes are below the path, also those of routers that it uses without a path. For another path, add another part. */
  router: Router
  /**
   * Puts the guard before the router: the signed-in user must have the connection `:bxcontext` of the path, and its access must not
   * have ended. Handlers can then call `connectionRef`, which throws without the guard.
   */
  needsConnection: boolean
  /** Whether its pages are for developers. While such pages are hidden from customers, they answer 404. */
  isForDevelopers?: boolean
}

/** The parts that a feature adds to a running app. All are optional. */
export interface FeatureParts {
  /** Mounted before the browser middleware, for servers that authenticate with tokens or signatures. */
  serverRoutes?: Pick<Part, 'path' | 'router'>[]
  /**
   * Mounted after sessions and CSRF protection. Handlers of a part without `needsConnection` must call `requireUser`, which throws
   * if no user is signed in. Routes at `/connect` get the requests of connect flows before the core, and have to pass them on.
   */
  routes?: Part[]
  /** Links in the header of every page for signed-in users. The links for developers are in a menu that customers don't see. */
  navigation?: { href: string; label: string; isForDevelopers?: boolean }[]
  /** Returns the links for a connection's card. Called only for connections whose tokens may still work. */
  connectionLinks?(ref: ConnectionRef): Promise<ConnectionLink[]>
  /** The sections that it adds to pages of the app and of other features. */
  sections?: PageSection[]
  /** Called when the app is listening. The store may not be connected yet. */
  start?(): void
  /** Stops background work. The store and the platform are still reachable. */
  stop?(): Promise<void>
}

/** The parts of the app that a feature's check can use. */
export interface CheckContext {
  /** A client that uses the proxies, with short timeouts. */
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
  /** Whether the platform is the sandbox. */
  readonly isSandbox: boolean
  /** Returns the finding for a server at `address` that did not answer. `error`: the code or message of the error. */
  noAnswer(setting: string, address: string, error: string): Finding
}

/** A result of a check. The documentation lists the cure for each id. */
export interface Finding {
  /** Stable, for scripts, such as `consent.client-id`. */
  id: string
  /** `warning`: the app works, but a change is advisable, or the check could not prove its result. */
  status: 'ok' | 'warning' | 'failure'
  /** One line: the check, the answer, and the change to make. */
  text: string
  /** The setting to change. */
  setting?: string
  /** The probable value, if it is known and not secret. */
  value?: string
}

/** The tools of a feature, each the default export of a file. `settings`: the feature's settings. */
export interface Tools<Settings = unknown> {
  /** Checks its settings and the platform without changes. It returns problems as findings and does not throw them. */
  check?(): Tool<(context: CheckContext, settings: Settings) => Promise<Finding[]>>
  /** Exports and deletes its data about a user that is outside the store, or stored under another owner. */
  userData?(): Tool<UserData<Settings>>
}

/** A feature's data about a user. The functions are also called for users of whom it has no data. */
export interface UserData<Settings = unknown> {
  /** Resolves to the data for the JSON of `npm run users -- export`, or null if there is none. */
  exportUser(deps: FeatureDeps, settings: Settings, userId: string): Promise<unknown>
  /** Deletes the data (`npm run users -- delete`). */
  deleteUser(deps: FeatureDeps, settings: Settings, userId: string): Promise<void>
}

/** A module whose default export is the tool. */
type Tool<T> = Promise<{ readonly default: T }>

/** A tool by its name, such as `ToolOf<'check'>`. */
export type ToolOf<Name extends keyof Tools> = Awaited<ReturnType<NonNullable<Tools[Name]>>>['default']
