import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type * as z from 'zod'
import type { Config } from '../config.ts'
import type { OnHop } from '../connect/express.ts'
import type {
  Assumption,
  Connect,
  ConnectionRef,
  EncryptionKey,
  Http,
  HttpPools,
  ReencryptResult,
} from '../connect/index.ts'
import type { KeyValueStore } from '../connect/stores.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { ConnectionTest } from '../web/connection-actions.ts'
import type { ConnectionLink } from '../web/connections.ts'
import type { PlainHandler } from '../web/plain-handler.ts'
import type { SendChanges } from '../web/sse.ts'

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
  /** The scopes that it needs, each with the reason, which begins with "to". */
  readonly scopes?: Readonly<Record<string, string>>
  /** Creates what it adds to a running app. */
  create?(context: FeatureContext, settings: Settings): FeatureParts | Promise<FeatureParts>
  /** Runs its checks for `npm run doctor`. A problem is a finding, not an error. */
  check?(context: CheckContext, settings: Settings): Promise<Finding[]>
  /** Compares the platform with the assumptions of its contract, for `npm run probe`. */
  probe?(probe: Probe, settings: Settings): Promise<void>
  /** Prepares its files in `DATA_DIR` for `npm run demo`. */
  prepareDemo?(dataDir: string): Promise<void>
}

/** What a feature can use. */
export interface FeatureContext {
  readonly connect: Connect
  readonly http: HttpPools
  readonly store: KeyValueStore
  readonly log: Logger
  readonly production: boolean
  /** The app's public origin, without a trailing slash. */
  readonly baseUrl: string
  /** Whether users sign in by the demo's form, under any name. */
  readonly demoSignIn: boolean
  /** How many reverse proxies are in front of the app; their `X-Forwarded-*` headers are trusted. */
  readonly trustProxy: number
  /** The folder for files (`DATA_DIR`). */
  readonly dataDir: string
  /** Keys for secrets in the store: the first encrypts, all of them decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[]
  readonly platform: {
    authUrl: string
    apiUrl: string
    clientId: string
    pkce: boolean
  }
  /** The sandbox's address, if the platform is the sandbox. */
  readonly sandboxUrl: string | undefined
  /** Aborted on shutdown, to close long-lived work such as server-sent events. */
  readonly shutdownSignal: AbortSignal
  /** Sends the user an event when a page has changed. */
  readonly sendChanges: SendChanges
  /** Returns the sections that all features add to a page, such as `catalogues/catalogue`. */
  sections(page: string): PageSection[]
  /** What `runDoctor` needs. It has secrets. */
  readonly doctorOptions: DoctorOptions
  /** Loads the contracts of the core and of all features. */
  loadContracts(): Promise<Contract[]>
  /** Has all features store what they have collected in memory so far, so that a page shows it. */
  flush(): Promise<void>
  /** Returns the tests of connections that all features offer. */
  connectionTests(): ConnectionTest[]
  /** Reads the gauges of all features. */
  gauges(): Promise<Gauge[]>
}

/** What one contract says about the platform: the core's, or a feature's. */
export interface Contract {
  /** `core`, or the name of the feature. */
  name: string
  /** Its file, relative to the project, such as `src/features/leads/contract.ts`. */
  file: string
  assumptions: readonly Assumption[]
  /** The scopes that the feature needs, each with the reason, which begins with "to". */
  scopes: Readonly<Record<string, string>>
  /** The paths of its operations, with `:id` in place of ids. */
  paths: readonly string[]
}

/** What the doctor checks. */
export interface DoctorOptions {
  config: Config
  /** Undefined: the store is not checked. */
  store: KeyValueStore | undefined
  features: readonly Feature[]
}

/** What the checks of a feature can use. */
export interface CheckContext {
  /** Goes through the proxies, with short timeouts. */
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
  /** Whether the platform is the sandbox. */
  readonly isSandbox: boolean
}

/** What the probe of a feature can use. It reports by the ids of the assumptions in its contract. */
export interface Probe {
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
  /** Whether it may create records, which it names as a test. */
  readonly write: boolean
  /** The requests that the platform has sent to this app so far. */
  readonly received: readonly ReceivedRequest[]
  /**
   * Sends a request below `{base_url}` with the access token of the consent. Null if there is no answer, or only an
   * outage (429, 5xx), which says nothing about an assumption.
   */
  call(path: string, body?: object): Promise<ProbeAnswer | null>
  /**
   * Checks how a list and its records can be read, against the assumptions of the core and two of the feature: the one
   * about the operations and the one about the record. Resolves to the id of a record, if there is one.
   */
  checkRecords(records: RecordsCheck): Promise<string | undefined>
  /** The records of a list, also if they are inside an object, which it reports; undefined if it is no list. */
  recordsOf(answer: ProbeAnswer, path: string): unknown[] | undefined
  /** Reports the fields of a record: whether the schema accepts it, and which fields the schema does not have. */
  checkFields(id: string, schema: z.ZodObject, records: readonly unknown[]): void
  /** Reports what was seen: names, types and statuses, never values. */
  confirm(id: string, seen: string): void
  /** `copes`: whether the app works although the assumption is wrong. */
  differ(id: string, seen: string, copes: boolean): void
  /** Reports that it could not be seen, and how it could be. */
  notSeen(id: string, how: string): void
}

export interface ProbeAnswer {
  status: number
  text: string
  /** Parsed JSON; undefined if the body is not JSON. */
  json: unknown
  header(name: string): string | undefined
  /** In lower case. */
  readonly headerNames: readonly string[]
}

export interface RecordsCheck {
  scope: string
  path: string
  /** The path of one record. */
  record(id: string): string
  /** The name of the field with the record's id. */
  idField: string
  schema: z.ZodObject
  /** The ids of the assumptions. */
  operations: string
  fields: string
  /** Whether the list has pages, an order and a total. */
  paged: boolean
}

/** A request of the platform, such as a webhook. */
export interface ReceivedRequest {
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** What a feature adds to a running app; all of it is optional. */
export interface FeatureParts {
  /** Run in front of Express, and so of everything below. */
  plainHandlers?: PlainHandler[]
  /** Mounted before the browser middleware, for servers that authenticate with tokens or signatures. */
  serverRoutes?: RequestHandler
  /** Is told of each hop of a connect flow, and may send the browser to a page of its own instead. */
  onHop?: OnHop
  /** Stores what it has collected in memory so far. */
  flush?(): Promise<void>
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
  /** Figures of this process for `/metrics`. */
  gauges?(): Gauge[] | Promise<Gauge[]>
  /** Called when the app is listening and the store has answered. */
  start?(): void
  /** Stops background work. The store and the platform are still reachable. */
  close?(): Promise<void>
  /** Re-encrypts its records with the first key (`npm run reencrypt`). */
  reencrypt?(onProgress: (result: ReencryptResult) => void): Promise<ReencryptResult>
  /** Deletes the user's data that is outside the store, or stored under another owner (`npm run connections -- delete`). */
  deleteUser?(userId: string): Promise<void>
}

/** A figure that goes up and down. A label must not have many values: no user id, and no bxcontext. */
export interface Gauge {
  /** Such as `connect_imports`. */
  name: string
  help: string
  values: { labels: Readonly<Record<string, string>>; value: number }[]
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

/** One result of `npm run doctor`; `docs/doctor.md` has each id with its cure. */
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
