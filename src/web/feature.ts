import type { Router } from 'express'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { OnHop } from '../connect/express.ts'
import type { Connect, ConnectionRef, HttpPools } from '../connect/index.ts'
import type { KeyValueStore } from '../connect/stores.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { ConnectionTest } from './connection-actions.ts'
import type { ConnectionLink } from './connections.ts'
import type { PageSection } from './pages.ts'
import type { SendChanges } from './sse.ts'

/**
 * A removable part of the app: the folder `src/features/NAME`, whose `index.ts` default-exports this value. Everything else
 * finds it by its place (`src/features/load.ts`): no list names it. What a tool needs from it is in a file of a fixed name beside
 * `index.ts` (`src/web/tools.ts`). Its other folders have the same name: `views/NAME`, `test/features/NAME`,
 * `src/sandbox/features/NAME`, and its page `docs/NAME.md`.
 */
export interface Feature<Settings = unknown> {
  /** What it does, in half a sentence, for those who choose features. */
  readonly title: string
  /** Where its links stand: the lowest number comes first. */
  readonly order: number
  /** The features that its code, its sandbox part or its tests import. */
  readonly needs?: readonly string[]
  /** Its settings, read together with those of the core so that all problems are reported at once. */
  readonly settings?: SettingsGroup<Settings>
  /** The scopes that it needs, each with the reason for users, which begins with "to". */
  readonly scopes?: Readonly<Record<string, string>>
  /** A cheap call for the button "Test this connection"; the first feature whose scope is granted is used. */
  readonly connectionTest?: ConnectionTest
  /** Creates what it adds to a running app. */
  create?(deps: FeatureDeps, settings: Settings): FeatureParts | Promise<FeatureParts>
}

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
  /** Aborted on shutdown, to close long-lived work such as server-sent events. */
  readonly shutdownSignal: AbortSignal
  /** Sends the user an event when a page has changed. */
  readonly sendChanges: SendChanges
}

/** What a feature adds to a running app; all of it is optional. */
export interface FeatureParts {
  /** Mounted before the browser middleware, for servers that authenticate with tokens or signatures. */
  serverRoutes?: Router
  /**
   * Routes for signed-in users, mounted after sessions and CSRF protection. A handler must call `connectionRef` or
   * `requireUser`, which throw if the user is not signed in.
   */
  routes?: Router
  /** Links in the header of every page for signed-in users. */
  navigation?: { href: string; label: string }[]
  /** Where whoever shows this app to customers begins, such as `/demo`; `npm run demo` prints it. */
  demoPath?: string
  /** Returns the links for the card of a connection that may work. */
  connectionLinks?(ref: ConnectionRef): Promise<ConnectionLink[]>
  /** What it adds to pages of the app and of other features. */
  sections?: PageSection[]
  /** Called at each hop of a connect flow; it may send the browser to a page of its own instead. */
  onHop?: OnHop
  /** Called when the app is listening. The store may not be there yet. */
  start?(): void
  /** Stops background work. The store and the platform are still reachable. */
  stop?(): Promise<void>
}
