import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Connect, ConnectionRef, EncryptionKey, KeyValueStore } from '../connect/index.ts'
import type { HttpPools } from '../connect/platform/http.ts'
import type { SettingsGroup } from '../settings/read.ts'
import type { Operation } from '../web/openapi.ts'

/**
 * Something that the app does with a connected account, or for suppliers. Each is a folder of `src/features` that
 * `npm run remove-feature` can remove; `index.ts` beside this file lists them. The app, the settings, the doctor and the
 * demo go through that list, and none of them names a feature.
 */
export interface Feature<Settings = unknown> {
  /** The name of its folder, also under `views`, `test/features` and `src/sandbox/features`. */
  readonly name: string
  /** Other features whose code it imports. */
  readonly needs?: readonly string[]
  /** Its settings; they are read with the core's, so that every problem is reported at once. */
  readonly settings?: SettingsGroup<Settings>
  /** Its JSON, for `/openapi.json`. */
  readonly operations?: readonly Operation[]
  /** What it adds to a running app. */
  create?(context: FeatureContext, settings: Settings): FeatureParts
  /** What `npm run doctor` checks. */
  check?(context: FeatureContext, settings: Settings): Promise<Finding[]>
  /** What `npm run demo` prepares for it in the folder for files. */
  prepareDemo?(dataDir: string): Promise<void>
}

/** What a feature has to work with. */
export interface FeatureContext {
  readonly connect: Connect
  readonly http: HttpPools
  readonly store: KeyValueStore
  readonly log: Logger
  /** The app's public origin, without a trailing slash. */
  readonly baseUrl: string
  /** The folder for files. */
  readonly dataDir: string
  /** Encrypt what is secret in the store: the first encrypts, all of them decrypt. */
  readonly encryptionKeys: readonly EncryptionKey[]
  /** Address of the platform's API, and what it accepts from one credential. */
  readonly platform: { apiUrl: string; rateLimit: { limit: number; windowMs: number } | null }
  /** Aborted on shutdown, to close long-lived work such as server-sent events. */
  readonly shutdownSignal: AbortSignal
  /** The sections that other features add to a page of this one. */
  sections(page: string): PageSection[]
}

/** What a feature adds to a running app; all of it is optional. */
export interface FeatureParts {
  /** Mounted before the browser middleware: the callers are servers, which authenticate with tokens or signatures. */
  serverRoutes?: RequestHandler
  /** For signed-in users; mounted after sessions and the cross-site check. */
  routes?: RequestHandler
  /** Links on the card of an active connection. */
  connectionLinks?(ref: ConnectionRef): Promise<ConnectionLink[]>
  sections?: PageSection[]
  /** Called when the app listens. */
  start?(): void
  /** Ends background work; the store and the platform can still be reached. */
  close?(): Promise<void>
  /** Encrypts what it keeps in the store with the first key (`npm run reencrypt`). */
  reencrypt?(): Promise<Reencrypted>
}

export interface Reencrypted {
  reencrypted: number
  /** Records that had the first key already. */
  current: number
  /** Why records could not be read. */
  unreadable: string[]
}

export interface ConnectionLink {
  /** Below the connection's address: `/leads`. */
  path: string
  label: string
  /** Shown beside the label unless it is 0: something waits there. */
  count?: number
}

/** A part that a feature adds to a page of another. */
export interface PageSection {
  /** Template of the page: `catalogues/catalogue`. */
  page: string
  /** Template of the section, which gets the page's data and what `load` returns. */
  view: string
  /** What the templates get, and what the page's JSON gets. */
  load(
    req: Request,
    ref: ConnectionRef,
    id: string,
  ): Promise<{ data: Record<string, unknown>; json: Record<string, unknown> }>
}

/** One line of `npm run doctor`. */
export interface Finding {
  ok: boolean
  text: string
}
