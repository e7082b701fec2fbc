/**
 * One record holds the connect flows of a browser session. It also names the flow that the last button began, because the platform
 * returns a business without naming the flow. Each step of a flow is a pure function that returns the next state of the flow, and
 * `flow-records.ts` stores it. A flow gets one bxcontext and asks for one consent, with its own `state`. Times are in ms since
 * 1970.
 */
import * as z from 'zod'
import { ConnectError, type FailureCode, isFailureCode } from './errors.ts'

const failureCode = z.custom<FailureCode>(isFailureCode)
const outcomeSchema = z.union([z.object({ connected: z.string() }), z.object({ failed: failureCode })])
/** How a flow ended: the bxcontext that was connected, or the code of the failure. */
export type Outcome = z.infer<typeof outcomeSchema>

const common = {
  /** Identifies the flow, also in the log. It isn't secret. */
  id: z.string(),
  /** The bxcontext to reconnect, if the button named one. */
  expected: z.string().optional(),
}
const open = {
  ...common,
  expiresAt: z.number(),
  /** The `state` of the consent request (RFC 6749 section 10.12). */
  state: z.string(),
  /** The code verifier of the consent request (RFC 7636 section 4.1). */
  codeVerifier: z.string(),
}
const chosen = { ...open, bxcontext: z.string() }

const flowSchema = z.discriminatedUnion('phase', [
  z.object({ ...open, phase: z.literal('started') }),
  /** The platform returned a bxcontext other than the expected one, and the user decides. */
  z.object({ ...chosen, phase: z.literal('confirming'), expected: z.string() }),
  z.object({ ...chosen, phase: z.literal('consenting') }),
  /** One visit of the callback, among all processes, sends the code. Other visits wait for its outcome. */
  z.object({ ...chosen, phase: z.literal('exchanging'), visit: z.string() }),
  z.object({ ...common, phase: z.literal('ended'), state: z.string(), outcome: outcomeSchema }),
])
export const flowRecordSchema = z.object({
  flows: z.array(flowSchema),
  /** The id of the flow that the last button began; null if no button was pressed. */
  last: z.string().nullable(),
})
export type Flow = z.infer<typeof flowSchema>
export type FlowRecord = z.infer<typeof flowRecordSchema>
export type Started = Extract<Flow, { phase: 'started' }>
export type Confirming = Extract<Flow, { phase: 'confirming' }>
export type Consenting = Extract<Flow, { phase: 'consenting' }>
export type Exchanging = Extract<Flow, { phase: 'exchanging' }>
export type Ended = Extract<Flow, { phase: 'ended' }>

/** How long a flow may take, in ms. */
export const FLOW_MS = 15 * 60_000
/** The maximum number of flows of a session. */
const MAX_FLOWS = 20

export const NO_FLOWS: FlowRecord = { flows: [], last: null }

/** The id, state and code verifier for a step that begins a new flow, and the current time. */
export type Fresh = Pick<Started, 'id' | 'state' | 'codeVerifier'> & { now: number }
/** The question to the user whether to connect the bxcontext that arrived instead of the expected one. */
export type Question = Pick<Confirming, 'id' | 'bxcontext' | 'expected'>

export const flowOf = ({ flows }: FlowRecord, id: string | null): Flow | undefined =>
  flows.find((flow) => flow.id === id)

/**
 * Returns the record with a new flow, or with the next state of a flow. If the record is full, drops the oldest flow other than the
 * flow of the last button. `last`: the id of the flow, if a button has just begun it.
 */
export function withFlow(record: FlowRecord, flow: Flow, last = record.last): FlowRecord {
  const { flows } = record
  if (flows.some(({ id }) => id === flow.id))
    return { flows: flows.map((one) => (one.id === flow.id ? flow : one)), last }
  const oldest = flows.length < MAX_FLOWS ? undefined : flows.find(({ id }) => id !== last)
  return { flows: [...flows.filter((one) => one !== oldest), flow], last }
}

/** The user pressed Connect, or Reconnect for the `expected` bxcontext. */
export const started = ({ now, ...values }: Fresh, expected: string | undefined): Started => ({
  ...values,
  phase: 'started',
  expected,
  expiresAt: now + FLOW_MS,
})

/**
 * A bxcontext arrived for the flow of the last button. Throws `ConnectError` if there is no such flow, or if it has ended. The code
 * is `consent_expired` if the flow took too long. Otherwise it is `missing_authorization_request`, because anyone could have
 * planted the bxcontext.
 */
export function arrived(record: FlowRecord, bxcontext: string, fresh: Fresh): Consenting | Confirming {
  const flow = inTurn(flowOf(record, record.last), 'started', fresh)
  const { expected = bxcontext } = flow
  return expected === bxcontext
    ? { ...flow, phase: 'consenting', bxcontext }
    : { ...flow, phase: 'confirming', bxcontext, expected }
}

/**
 * Returns the question for the user, who may go back from the consent page and answer again. Throws `ConnectError`:
 * `consent_expired` if the flow took too long, or `missing_authorization_request` if there was no question or the flow has ended.
 */
export function questionOf(record: FlowRecord, id: string): Question {
  const flow = flowOf(record, id)
  if (!flow || !('bxcontext' in flow) || flow.expected === undefined || flow.expected === flow.bxcontext)
    throw notWaiting(flow)
  return { id, bxcontext: flow.bxcontext, expected: flow.expected }
}

/** The user accepted the other bxcontext. Throws the errors of `questionOf`. */
export function confirmed(record: FlowRecord, id: string, fresh: Fresh): Consenting {
  const { bxcontext } = questionOf(record, id)
  return { ...inTurn(flowOf(record, id), 'confirming', fresh), phase: 'consenting', bxcontext }
}

/**
 * Returns the flow if it is in this phase. If the flow is past this phase, because the user went back or has two tabs, returns a
 * new flow with the same purpose. Both flows may finish. Throws `ConnectError` if the flow has ended.
 */
function inTurn(flow: Flow | undefined, phase: Flow['phase'], fresh: Fresh): Omit<Started, 'phase'> {
  if (!flow || flow.phase === 'ended') throw notWaiting(flow)
  return flow.phase === phase ? flow : started(fresh, flow.expected)
}

/**
 * The callback arrived, and the first `visit` claims the flow for as long as an exchange may take. Returns the flow unchanged if
 * another visit has claimed it or it has ended. Returns null if no flow waits for this `state`.
 */
export function claimed(
  { flows }: FlowRecord,
  state: string,
  visit: string,
  { now, exchangeMs }: { now: number; exchangeMs: number },
): Exchanging | Ended | null {
  const flow = flows.find((one) => one.state === state)
  if (flow?.phase === 'exchanging' || flow?.phase === 'ended') return flow
  if (flow?.phase !== 'consenting') return null
  return { ...flow, phase: 'exchanging', visit, expiresAt: now + exchangeMs }
}

/** The flow has ended. It drops its code verifier, and keeps its `state` only to answer a repeated callback. */
export function ended({ id, expected, state }: Flow, outcome: Outcome): Ended {
  return { phase: 'ended', id, expected, state, outcome }
}

/** Ends each flow whose user, or whose process that exchanges the code, did not finish in time. */
export const aged = ({ flows, last }: FlowRecord, now: number): FlowRecord => ({
  flows: flows.map((flow) => {
    if (flow.phase === 'ended' || flow.expiresAt > now) return flow
    return ended(flow, { failed: flow.phase === 'exchanging' ? 'exchange_incomplete' : 'consent_expired' })
  }),
  last,
})

/** The error for a flow that isn't waiting for the user, or isn't known. */
function notWaiting(flow: Flow | undefined): ConnectError {
  const hasExpired =
    flow?.phase === 'ended' && 'failed' in flow.outcome && flow.outcome.failed === 'consent_expired'
  return hasExpired
    ? new ConnectError('consent_expired', undefined, flow)
    : new ConnectError('missing_authorization_request')
}
