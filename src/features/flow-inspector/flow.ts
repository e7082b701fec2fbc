/** The stored form of a flow, and its summary. Neither contains a secret. */
import * as z from 'zod'

/** The participants of a flow, from left to right in the diagram. The last three belong to the platform. */
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

/** The topic of a step, which `step-texts.ts` explains. */
const TOPICS = [
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
  'record_deleted',
  'connection_event',
  'platform_start',
  'platform_consent',
] as const
export type Topic = (typeof TOPICS)[number]

/** A parameter or a header: its value, or the fingerprint of a secret (its kind, its length, 6 hex digits of a keyed digest). */
export const parameterSchema = z.object({
  name: z.string(),
  value: z.string().optional(),
  fingerprint: z.string().optional(),
})
export type Parameter = z.infer<typeof parameterSchema>
const parts = { headers: z.array(parameterSchema), parameters: z.array(parameterSchema) }

const requestSchema = z.object({ method: z.string(), url: z.string(), ...parts })
const responseSchema = z.object({
  status: z.number().int(),
  ...parts,
  /** The number of characters of a body that is not recorded, because it is the user's data. */
  bodyLength: z.number().int().optional(),
})
export type StepRequest = z.infer<typeof requestSchema>
export type StepResponse = z.infer<typeof responseSchema>

export const stepSchema = z.object({
  /** When the step began, and how long it took. */
  at: z.iso.datetime(),
  ms: z.number(),
  from: z.enum(LANES),
  to: z.enum(LANES),
  topic: z.enum(TOPICS),
  title: z.string(),
  request: requestSchema.optional(),
  response: responseSchema.optional(),
  /** An error code, if the step failed. */
  failure: z.string().optional(),
  /** The event of the connection, for a `connection_event`. */
  event: z.string().optional(),
})
export type Step = z.infer<typeof stepSchema>
export type Heading = Pick<Step, 'topic' | 'title'>

/** How many steps of a flow are kept. */
export const MAX_STEPS = 300

export const flowSchema = z.object({
  id: z.string(),
  bxcontext: z.string().nullable(),
  steps: z.array(stepSchema),
  /** The number of steps that were dropped. */
  omitted: z.number().int(),
})
export type Flow = z.infer<typeof flowSchema>

/** How long a connect flow may take, in ms. */
export const CONNECT_MS = 15 * 60_000

/** A flow in the list. */
export const summarySchema = z.object({
  id: z.string(),
  kind: z.enum(KINDS),
  startedAt: z.iso.datetime(),
  /** Null while the flow runs. */
  endedAt: z.iso.datetime().nullable(),
  /** `running`, `connected`, `refreshed`, `answered`, `revoked`, `disconnected`, `abandoned`, or an error code. */
  outcome: z.string(),
  /** The method and path of an API call, such as `GET /leads`; null for anything else. */
  call: z.string().nullable(),
  bxcontext: z.string().nullable(),
  /** Number of steps. */
  steps: z.number().int(),
  /** Number of HTTP requests that this app sent to the platform. */
  requests: z.number().int(),
  /** When its last step was stored, in ms since 1970. A user's list keeps the flows with the latest times. */
  storedAt: z.number(),
})
export type Summary = z.infer<typeof summarySchema>

const SENT_TOPICS = new Set<Topic>(['code_exchange', 'token_refresh', 'api_call'])

/** Whether a step is a request of this app to the platform. */
export const isSent = ({ topic }: Step) => SENT_TOPICS.has(topic)

/** Summarises a flow that has at least one step. `now`: when its last step is stored, in ms since 1970. */
export function summarize(flow: Flow, now = Date.now()): Summary {
  const { id, bxcontext, steps, omitted } = flow
  const startedAt = steps[0]?.at ?? new Date(now).toISOString()
  const kind = kindOf(steps)
  const outcome = outcomeOf(kind, steps)
  const lastAt = Math.max(...steps.map(({ at, ms }) => Date.parse(at) + ms))
  const request = kind === 'api_call' ? steps.find(isSent)?.request : undefined
  return {
    id,
    kind,
    startedAt,
    endedAt: outcome === 'running' ? null : new Date(lastAt).toISOString(),
    outcome,
    call: request ? `${request.method} ${URL.parse(request.url)?.pathname ?? ''}` : null,
    bxcontext,
    steps: steps.length + omitted,
    requests: steps.filter(isSent).length,
    storedAt: now,
  }
}

/** The current summary: a flow that has not finished in time counts as abandoned. */
export function current(summary: Summary, now = Date.now()): Summary {
  const endsAt = Date.parse(summary.startedAt) + CONNECT_MS
  if (summary.outcome !== 'running' || now <= endsAt) return summary
  return { ...summary, outcome: 'abandoned', endedAt: new Date(endsAt).toISOString() }
}

function kindOf(steps: readonly Step[]): Kind {
  const happened = (event: Step['event']) => steps.some((step) => step.event === event)
  if (steps.some(({ from, to }) => from === 'browser' || to === 'browser')) return 'connect'
  if (happened('revoked')) return 'revocation'
  if (happened('disconnected')) return 'disconnect'
  return steps.some(({ topic }) => topic === 'api_call') ? 'api_call' : 'refresh'
}

function outcomeOf(kind: Kind, steps: readonly Step[]): string {
  if (kind === 'revocation') return 'revoked'
  if (kind === 'disconnect') return 'disconnected'
  if (kind === 'connect') {
    const end = steps.find(({ topic }) => topic === 'to_connections' || topic === 'flow_failed')
    return end ? (end.failure ?? 'connected') : 'running'
  }
  const last = steps.findLast(isSent)
  if (last?.failure) return last.failure
  // The app has taken the lease for a refresh, and its request is still under way.
  if (!last && steps.some(({ topic }) => topic === 'lease_taken')) return 'running'
  return kind === 'api_call' ? 'answered' : 'refreshed'
}
