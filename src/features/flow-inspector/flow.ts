import * as z from 'zod'

/** The participants of a flow, from left to right in the diagram. The last three are the platform. */
export const LANES = ['browser', 'app', 'store', 'web_application', 'identity_provider', 'api'] as const
export type Lane = (typeof LANES)[number]

export const LANE_NAMES: Record<Lane, string> = {
  browser: 'Browser',
  app: 'This app',
  store: 'Store',
  web_application: 'Platform: web application',
  identity_provider: 'Platform: identity provider',
  api: 'Platform: API',
}

export const KINDS = ['connect', 'refresh', 'api_call', 'revocation', 'disconnect'] as const
export type Kind = (typeof KINDS)[number]

/** What can happen to a connection. */
const EVENTS = ['connected', 'refreshed', 'refreshFailed', 'recovered', 'revoked', 'disconnected'] as const

/** What a step shows; `step-texts.ts` explains each. */
export const TOPICS = [
  'connect_started',
  'to_start_page',
  'bxcontext_received',
  'confirm_bxcontext',
  'to_consent_page',
  'callback_received',
  'to_connections',
  'flow_failed',
  'code_exchange',
  'token_refresh',
  'api_call',
  'lease_taken',
  'record_written',
  'connection_event',
  'platform_start',
  'platform_login',
  'platform_authorize',
  'platform_consent',
  'platform_other',
  'platform_hidden',
] as const
export type Topic = (typeof TOPICS)[number]

/** An `authorization` header, as it is recorded. */
const BEARER = /^Bearer [^:]{1,200}:\d{1,7}:[\da-f]{6}$/
const MAX_HEADERS = 20
const time = z.iso.datetime().max(40)
const text = (max: number) => z.string().max(max)
/** The fingerprint of a secret: its kind, its length, and 6 hex digits of a keyed digest. */
const fingerprintSchema = z.string().regex(/^[^:]{1,200}:\d{1,7}:[\da-f]{6}$/)
/** Exactly one of `value` and `fingerprint`; neither if the value is known to the core only. */
export const parameterSchema = z
  .strictObject({ name: text(200), value: text(1000).optional(), fingerprint: fingerprintSchema.optional() })
  .refine(({ value, fingerprint }) => value === undefined || fingerprint === undefined, 'has two values')
export type Parameter = z.infer<typeof parameterSchema>
const parameters = z.array(parameterSchema).max(100)
const headers = z
  .record(text(100), text(1000))
  .refine((all) => Object.keys(all).length <= MAX_HEADERS, 'has too many headers')
  .refine(({ authorization }) => authorization === undefined || BEARER.test(authorization), 'is not masked')

const requestSchema = z.object({ method: text(10), url: text(4000), headers, parameters })
const responseSchema = z.object({
  status: z.number().int().min(100).max(999),
  headers,
  parameters,
  /** Characters of a body that is not recorded, because it is the user's data. */
  bodyLength: z.number().int().min(0).optional(),
})
export type StepRequest = z.infer<typeof requestSchema>
export type StepResponse = z.infer<typeof responseSchema>

export const stepSchema = z.object({
  /** When it began, and how long it took. */
  at: time,
  ms: z.number().min(0).max(86_400_000),
  from: z.enum(LANES),
  to: z.enum(LANES),
  topic: z.enum(TOPICS),
  title: text(300),
  request: requestSchema.optional(),
  response: responseSchema.optional(),
  /** An error code, if the step failed. */
  failure: text(100).optional(),
  /** What happened to the connection, for a `connection_event`. */
  event: z.enum(EVENTS).optional(),
  /** How many equal steps in a row it stands for. */
  count: z.number().int().min(2).optional(),
})
export type Step = z.infer<typeof stepSchema>

/** How many steps of a flow are kept. */
export const MAX_STEPS = 300

/** A flow as it is stored, exported and imported. It contains no secret. */
export const flowSchema = z.object({
  id: text(100),
  bxcontext: text(512).nullable(),
  imported: z.boolean().default(false),
  steps: z.array(stepSchema).max(MAX_STEPS),
  /** How many further steps were not recorded. */
  omitted: z.number().int().min(0).default(0),
})
export type Flow = z.infer<typeof flowSchema>

/** How long a connect flow may take, in ms. */
export const CONNECT_MS = 15 * 60_000

/** A flow in the list. */
export const summarySchema = z.object({
  id: z.string(),
  kind: z.enum(KINDS),
  startedAt: z.iso.datetime(),
  /** Null while it runs. */
  endedAt: z.iso.datetime().nullable(),
  /** `running`, `connected`, `refreshed`, `answered`, `revoked`, `disconnected`, `received`, `abandoned`, or an error code. */
  outcome: z.string(),
  /** Of an API call: its method and path, such as `GET /leads`; null for anything else. */
  call: z.string().nullable().default(null),
  bxcontext: z.string().nullable(),
  /** Number of steps. */
  steps: z.number().int(),
  /** Number of HTTP requests that this app sent. */
  requests: z.number().int(),
  imported: z.boolean().default(false),
  /** When its last step was stored, in ms since 1970: the order of the list. */
  storedAt: z.number(),
})
export type Summary = z.infer<typeof summarySchema>

const FINAL_TOPICS = new Set<Topic>(['to_connections', 'flow_failed'])
const SENT_TOPICS = new Set<Topic>(['code_exchange', 'token_refresh', 'api_call'])

/** Whether a step is on a page of the platform that the sandbox reports. */
export const isPlatformPage = (topic: Topic) => topic.startsWith('platform_') && topic !== 'platform_hidden'

const endOf = ({ at, ms }: Step) => Date.parse(at) + ms

/** Summarises a flow that has at least one step. */
export function summarize(flow: Flow, now = Date.now()): Summary {
  const { id, bxcontext, steps, omitted } = flow
  const startedAt = steps[0]?.at ?? new Date(now).toISOString()
  const kind = kindOf(steps)
  // Nothing more happens to a flow of another machine.
  const ageMs = flow.imported ? Number.POSITIVE_INFINITY : now - Date.parse(startedAt)
  const outcome = outcomeOf(kind, steps, ageMs)
  const lastAt = Math.max(Date.parse(startedAt), ...steps.map(endOf))
  return {
    id,
    kind,
    startedAt,
    endedAt: outcome === 'running' ? null : new Date(lastAt).toISOString(),
    outcome,
    call: kind === 'api_call' ? callOf(steps) : null,
    bxcontext,
    steps: steps.length + omitted,
    requests: steps.filter(({ topic }) => SENT_TOPICS.has(topic)).length,
    imported: flow.imported,
    storedAt: now,
  }
}

function callOf(steps: readonly Step[]): string | null {
  const request = steps.find(({ topic }) => SENT_TOPICS.has(topic))?.request
  const path = request && URL.parse(request.url)?.pathname
  return path ? `${request.method} ${path}` : null
}

const has = (steps: readonly Step[], topic: Topic) => steps.some((step) => step.topic === topic)
const hasEvent = (steps: readonly Step[], event: Step['event']) => steps.some((step) => step.event === event)

function kindOf(steps: readonly Step[]): Kind {
  const isConnect = steps.some(
    ({ from, to, topic }) => !isPlatformPage(topic) && (from === 'browser' || to === 'browser'),
  )
  if (isConnect) return 'connect'
  if (hasEvent(steps, 'revoked')) return 'revocation'
  if (hasEvent(steps, 'disconnected')) return 'disconnect'
  return has(steps, 'api_call') ? 'api_call' : 'refresh'
}

function outcomeOf(kind: Kind, steps: readonly Step[], ageMs: number): string {
  if (kind === 'revocation') return 'revoked'
  if (kind === 'disconnect') return 'disconnected'
  if (kind === 'connect') {
    const end = steps.find(({ topic }) => FINAL_TOPICS.has(topic))
    if (end) return end.failure ?? 'connected'
    return ageMs > CONNECT_MS ? 'abandoned' : 'running'
  }
  const last = steps.findLast(({ topic }) => SENT_TOPICS.has(topic))
  if (last?.failure) return last.failure
  // The request of this refresh is still under way.
  if (!last && has(steps, 'lease_taken') && ageMs < CONNECT_MS) return 'running'
  return kind === 'api_call' ? 'answered' : 'refreshed'
}
