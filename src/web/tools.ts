/** The types by which tools, such as the doctor and the metrics, work with features. `Tools` of `feature.ts` lists the tools. */
import type * as z from 'zod'
import type { Http, HttpResponse } from '../connect/index.ts'

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
  /** Stable, for scripts, such as `consent.client-id`. A finding about an assumption has the id of the assumption. */
  id: string
  /**
   * `warning`: the app works, but something should be changed or could not be proven. Only an assumption can be `not seen` (another run
   * may see it) or `not checked` (no run can see it). Then the text says how to find out.
   */
  status: 'ok' | 'warning' | 'failure' | 'not seen' | 'not checked'
  /** One line: what was checked, what came back, and what to change. */
  text: string
  /** The setting to change. */
  setting?: string
  /** The value that it probably needs, if that is known and is no secret. */
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
   * Sends a request below `{base_url}` with the access token of the consent. Without an answer, or with only an outage (429,
   * 5xx), it throws an error that ends the probe: what the probe has not reported is not seen.
   */
  call(path: string, body?: object): Promise<ProbeAnswer>
  /**
   * Checks how a list and its records can be read, and compares that with the assumptions of the core and those of the feature
   * (`operations`, `fields`). Resolves to the id of a record, if there is one.
   */
  checkRecords(records: RecordsCheck): Promise<string | undefined>
  /**
   * With `--write`, creates a record and compares the answer with an assumption. Resolves to the record, if it was created as
   * assumed.
   */
  checkCreation<T>(creation: Creation<T>): Promise<T | undefined>
  /** The records of a list. If they are inside an object, it reports that. Undefined if the answer has no list. */
  recordsOf(answer: ProbeAnswer, path: string): unknown[] | undefined
  /** Reports the fields of a record: whether the schema accepts it, and which fields the schema does not have. */
  checkFields(id: string, schema: z.ZodObject, records: readonly unknown[]): void
  /** Reports what was seen: names, types and statuses, never values. */
  confirm(id: string, seen: string): void
  /** Reports what differs. `copes`: whether the app works although the assumption is wrong. */
  differ(id: string, seen: string, copes: boolean): void
  /** Confirms the assumption, or reports what differs. */
  compare(id: string, isAsAssumed: boolean, seen: string, copes: boolean): void
  /** Reports that this run could not see whether the assumption is right, and how one could see it. */
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

export interface Creation<T> {
  /** The id of the assumption. */
  id: string
  scope: string
  path: string
  /** The path as the report may show it, if the path has ids. */
  shownPath?: string
  body: object
  /** The schema of the answer. */
  schema: z.ZodType<T>
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
