/**
 * The connect flows of one browser session are one record, and whatever happens to one of them is a pure function that returns
 * the next flow. `flow-records.ts` applies these functions. Times are in ms since 1970.
 */
import * as z from 'zod'
import { ConnectError, type FailureCode, isFailureCode } from './errors.ts'

const failureCode = z.custom<FailureCode>(isFailureCode)
const outcomeSchema = z.union([z.object({ connected: z.string() }), z.object({ failed: failureCode })])
/** How a flow ended: the bxcontext that was connected, or the code of the failure. */
export type Outcome = z.infer<typeof outcomeSchema>

const common = {
  /** Identifies the flow, in the log too. It is no secret. */
  id: z.string(),
  expiresAt: z.number(),
  /** The bxcontext to reconnect, if the user pressed Reconnect. */
  expected: z.string().optional(),
}
const consent = { ...common, bxcontext: z.string(), state: z.string(), codeVerifier: z.string() }

const flowSchema = z.discriminatedUnion('phase', [
  z.object({ ...common, phase: z.literal('started') }),
  /** Another bxcontext came back than the one to reconnect, and the user decides. */
  z.object({ ...common, phase: z.literal('confirming'), bxcontext: z.string(), expected: z.string() }),
  z.object({ ...consent, phase: z.literal('consenting') }),
  /** One visit of the callback among all processes has the code; the others wait for its outcome. */
  z.object({ ...consent, phase: z.literal('exchanging'), visit: z.string() }),
  /** Has no secret any more. `state`: if it got as far as the consent page. */
  z.object({ ...common, phase: z.literal('ended'), state: z.string().optional(), outcome: outcomeSchema }),
])
export const flowsSchema = z.array(flowSchema)
export type Flow = z.infer<typeof flowSchema>
export type Flows = readonly Flow[]
export type Confirming = Extract<Flow, { phase: 'confirming' }>
export type Consenting = Extract<Flow, { phase: 'consenting' }>
export type Exchanging = Extract<Flow, { phase: 'exchanging' }>
export type Ended = Extract<Flow, { phase: 'ended' }>

/** How long a flow may take, in ms. */
export const FLOW_MS = 15 * 60_000
/** How long it is known how a flow ended, in ms. */
export const ENDED_MS = 4 * 3_600_000
/** How many flows one session has at most. */
const MAX_FLOWS = 20

/** Random values of a consent: its `state` (RFC 6749 section 10.12) and its code verifier (RFC 7636 section 4.1). */
export interface ConsentSecrets {
  state: string
  codeVerifier: string
}

/** The flows with a new one, or with the next state of one of them. */
export function withFlow(flows: Flows, flow: Flow): Flows {
  const isNew = flows.every(({ id }) => id !== flow.id)
  return isNew ? [...flows, flow].slice(-MAX_FLOWS) : flows.map((one) => (one.id === flow.id ? flow : one))
}

/** The user pressed Connect, or Reconnect for the `expected` bxcontext. */
export const started = (id: string, expected: string | undefined, now: number): Flow => ({
  phase: 'started',
  id,
  expiresAt: now + FLOW_MS,
  expected,
})

/**
 * A bxcontext arrived. It belongs to the flow that expects it, or else to one that expects none, or else to one that expects
 * another; each time to the latest without a bxcontext, or else to the latest whose user went back and chose again: then it
 * replaces the earlier one, whose consent counts for nothing. Throws `ConnectError` if no flow waits for one: `consent_expired`
 * if one did, and otherwise `missing_authorization_request`, as anyone could have planted it.
 */
export function arrived(flows: Flows, bxcontext: string, secrets: ConsentSecrets): Consenting | Confirming {
  const chosen = flows.filter(({ phase }) => phase === 'confirming' || phase === 'consenting')
  // In the order of preference, the best last.
  const waiting = [...chosen, ...flows.filter(({ phase }) => phase === 'started')]
  const found =
    waiting.findLast(({ expected }) => expected === bxcontext) ??
    waiting.findLast(({ expected }) => expected === undefined) ??
    waiting.at(-1)
  if (!found) throw notWaiting(flows.findLast(hasExpired))
  const { id, expiresAt, expected } = found
  return expected === undefined || expected === bxcontext
    ? { phase: 'consenting', id, expiresAt, expected, bxcontext, ...secrets }
    : { phase: 'confirming', id, expiresAt, expected, bxcontext }
}

/**
 * The flow whose user is asked, or was: who goes back from the consent page may answer again. Throws `ConnectError`
 * (`consent_expired`, or `missing_authorization_request` once the flow has gone on).
 */
export function confirming(flows: Flows, id: string): Confirming {
  const flow = flows.find((one) => one.id === id)
  if (flow?.phase === 'confirming') return flow
  if (flow?.phase !== 'consenting' || flow.expected === undefined || flow.expected === flow.bxcontext)
    throw notWaiting(flow)
  const { expiresAt, expected, bxcontext } = flow
  return { phase: 'confirming', id, expiresAt, expected, bxcontext }
}

/** The user accepted the other bxcontext. Throws as `confirming` does. */
export const confirmed = (flows: Flows, id: string, secrets: ConsentSecrets): Consenting => ({
  ...confirming(flows, id),
  phase: 'consenting',
  ...secrets,
})

/**
 * The callback arrived: the first `visit` has the flow for itself, for as long as an exchange may take. Returns the flow
 * unchanged if another visit has it, or if it has ended, and null if no flow has this state.
 */
export function claimed(
  flows: Flows,
  state: string,
  visit: string,
  { now, exchangeMs }: { now: number; exchangeMs: number },
): Exchanging | Ended | null {
  const flow = flows.find((one) => 'state' in one && one.state === state)
  if (flow?.phase === 'exchanging' || flow?.phase === 'ended') return flow
  if (flow?.phase !== 'consenting') return null
  return { ...flow, phase: 'exchanging', visit, expiresAt: now + exchangeMs }
}

/** The flow ended at this time. */
export const ended = (flow: Flow, outcome: Outcome, at: number): Ended => ({
  phase: 'ended',
  id: flow.id,
  expected: flow.expected,
  state: 'state' in flow ? flow.state : undefined,
  outcome,
  expiresAt: at + ENDED_MS,
})

/** The flows as they are now: one that its user, or its process, did not finish in time has ended. */
export const aged = (flows: Flows, now: number): Flows =>
  flows
    .map((flow) => {
      if (flow.phase === 'ended' || flow.expiresAt > now) return flow
      const failed = flow.phase === 'exchanging' ? 'exchange_incomplete' : 'consent_expired'
      return ended(flow, { failed }, flow.expiresAt)
    })
    .filter(({ expiresAt }) => expiresAt > now)

const hasExpired = (flow: Flow) =>
  flow.phase === 'ended' && 'failed' in flow.outcome && flow.outcome.failed === 'consent_expired'

/** The error for a flow that does not wait for the user, or is not known. */
const notWaiting = (flow: Flow | undefined) =>
  flow && hasExpired(flow)
    ? new ConnectError('consent_expired', undefined, { expected: flow.expected })
    : new ConnectError('missing_authorization_request')
