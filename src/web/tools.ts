/**
 * What tools need from a feature is the default export of a file of a fixed name beside its `index.ts`, which `loadTools` of
 * `src/features/load.ts` finds: `contract.ts` (no default export; see `contracts.ts` there), `check.ts`, `probe.ts`, `demo.ts`,
 * `gauges.ts`, `reencrypt.ts`, `delete-user.ts` and `export-user.ts`. `settings` are those of the feature.
 */
import type * as z from 'zod'
import type { Assumption, Http, HttpResponse, Reencryption } from '../connect/index.ts'
import type { FeatureDeps } from './feature.ts'

/** `check.ts`: checks its settings and the platform, changing nothing. A problem is a finding, not an error. */
export type CheckTool = (context: CheckContext, settings: unknown) => Promise<Finding[]>
/** `probe.ts`: compares the platform with the assumptions of its contract. */
export type ProbeTool = (probe: Probe, settings: unknown) => Promise<void>
/** `demo.ts`: prepares its files in `DATA_DIR` for `npm run demo`. */
export type DemoTool = (dataDir: string) => Promise<void>
/** `gauges.ts`: its figures of this process for `/metrics`. */
export type GaugesTool = (deps: FeatureDeps, settings: unknown) => Promise<Gauge[]>
/** `reencrypt.ts`: re-encrypts its records with the first key (`npm run reencrypt`). */
export type ReencryptTool = (deps: FeatureDeps) => AsyncIterable<Reencryption>
/**
 * `delete-user.ts`: deletes the user's data that is outside the store, or stored under another owner (`npm run connections --
 * delete`). It is called also if the store has nothing about the user.
 */
export type DeleteUserTool = (deps: FeatureDeps, settings: unknown, userId: string) => Promise<void>
/** `export-user.ts`: the same data, as it can be written as JSON, for `npm run connections -- export`; null if there is none. */
export type ExportUserTool = (deps: FeatureDeps, settings: unknown, userId: string) => Promise<unknown>

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

/** What the checks of a feature can use. */
export interface CheckContext {
  /** Goes through the proxies, with short timeouts. */
  readonly http: Http
  /** `{base_url}`. */
  readonly apiUrl: string
  /** Whether the platform is the sandbox. */
  readonly isSandbox: boolean
}

/** One result of a check; the documentation has each id with its cure. */
export interface Finding {
  /** Stable, for scripts: `consent.client-id`; of an assumption, its own. */
  id: string
  /**
   * `warning`: the app works, but something should be changed or could not be proven. Only of an assumption: `not seen`, if
   * another run may see it, and `not checked`, if no run can; the text says how to find out.
   */
  status: 'ok' | 'warning' | 'failure' | 'not seen' | 'not checked'
  /** One line: what was checked, what came back, and what to change. */
  text: string
  /** The setting to change. */
  setting?: string
  /** Its likely value, if that can be told and is no secret. */
  value?: string
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

/** A response of the platform. */
export interface ProbeAnswer extends HttpResponse {
  /** Undefined if the body is not JSON. */
  json: unknown
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

/** A figure that goes up and down. A label must not have many values: no user id, and no bxcontext. */
export interface Gauge {
  /** Such as `connect_connections`. */
  name: string
  help: string
  values: { labels: Readonly<Record<string, string>>; value: number }[]
}
