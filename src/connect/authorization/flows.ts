/**
 * The connect flows of one browser session are one record, and whatever happens to them is a pure function from the flows to
 * the next ones. `flow-records.ts` applies these functions. Times are in ms since 1970.
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
const consent = { ...common, bxcontext: z.string(), state: z.string() }

const flowSchema = z.discriminatedUnion('phase', [
  z.object({ ...common, phase: z.literal('started') }),
  /** Another bxcontext came back than the one to reconnect, and the user decides. */
  z.object({ ...common, phase: z.literal('confirming'), bxcontext: z.string(), expected: z.string() }),
  z.object({ ...consent, phase: z.literal('consenting'), codeVerifier: z.string() }),
  /** One caller among all processes has the code; the others wait for its outcome. */
  z.object({ ...consent, phase: z.literal('exchanging') }),
  z.object({ ...consent, phase: z.literal('ended'), outcome: outcomeSchema }),
  /** The user took too long: kept without its code verifier, to say so. */
  z.object({ ...common, phase: z.literal('expired'), state: z.string().optional() }),
])
export const flowsSchema = z.array(flowSchema)
export type Flow = z.infer<typeof flowSchema>
export type Flows = readonly Flow[]
export type Consenting = Extract<Flow, { phase: 'consenting' }>
export type Confirming = Extract<Flow, { phase: 'confirming' }>
export type Ended = Extract<Flow, { phase: 'ended' }>

/** How long a flow may take, and how long its outcome is kept, in ms. */
export const FLOW_MS = 15 * 60_000
/** How long a flow is known to have expired, in ms. */
export const EXPIRED_MS = 4 * 3_600_000
/** How many flows one session has at most. */
const MAX_FLOWS = 20

/** Random values of a consent: its `state` (RFC 6749 section 10.12) and its code verifier (RFC 7636 section 4.1). */
export interface ConsentSecrets {
  state: string
  codeVerifier: string
}

/** The user pressed Connect, or Reconnect for the `expected` bxcontext. */
export function started(flows: Flows, id: string, expected: string | undefined, now: number): Flows {
  const flow: Flow = {
    phase: 'started',
    id,
    expiresAt: now + FLOW_MS,
    ...(expected !== undefined && { expected }),
  }
  return [...flows, flow].slice(-MAX_FLOWS)
}

/**
 * A bxcontext arrived. It belongs to the flow that expects it, or else to one that expects none, or else to one that expects
 * another; each time to the latest without a bxcontext, or else to the latest whose user went back and chose again: then it
 * replaces the earlier one, whose consent counts for nothing. Throws `ConnectError` if no flow waits for one: `consent_expired`
 * if one did, and otherwise `missing_authorization_request`, as anyone could have planted it.
 */
export function arrived(
  flows: Flows,
  bxcontext: string,
  secrets: ConsentSecrets,
): { flows: Flows; flow: Consenting | Confirming } {
  const chosen = flows.filter(({ phase }) => phase === 'confirming' || phase === 'consenting')
  // In the order of preference, the best last.
  const waiting = [...chosen, ...flows.filter(({ phase }) => phase === 'started')]
  const found =
    waiting.findLast(({ expected }) => expected === bxcontext) ??
    waiting.findLast(({ expected }) => expected === undefined) ??
    waiting.at(-1)
  if (!found) throw notWaiting(flows.findLast(({ phase }) => phase === 'expired'))
  const { id, expiresAt, expected } = found
  const flow: Consenting | Confirming =
    expected === undefined || expected === bxcontext
      ? { phase: 'consenting', id, expiresAt, expected, bxcontext, ...secrets }
      : { phase: 'confirming', id, expiresAt, expected, bxcontext }
  return { flows: replaced(flows, flow), flow }
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
export function confirmed(
  flows: Flows,
  id: string,
  secrets: ConsentSecrets,
): { flows: Flows; flow: Consenting } {
  const flow: Consenting = { ...confirming(flows, id), phase: 'consenting', ...secrets }
  return { flows: replaced(flows, flow), flow }
}

/**
 * The callback arrived: whoever writes this has the flow, and its code verifier, for itself. Another phase than `consenting`
 * is returned unchanged. The flow is kept for as long as an exchange may take. Throws `ConnectError` (`invalid_state`,
 * `consent_expired`).
 */
export function claimed(
  flows: Flows,
  state: string,
  now: number,
  exchangeMs: number,
): { flows: Flows; flow: Flow } {
  const flow = flows.find((one) => 'state' in one && one.state === state)
  if (!flow) throw new ConnectError('invalid_state')
  if (flow.phase === 'expired') throw notWaiting(flow)
  if (flow.phase !== 'consenting') return { flows, flow }
  const { codeVerifier: _, ...rest } = flow
  return { flows: replaced(flows, { ...rest, phase: 'exchanging', expiresAt: now + exchangeMs }), flow }
}

/** The exchange ended. */
export function ended(flows: Flows, id: string, outcome: Outcome, now: number): Flows {
  const flow = flows.find((one) => one.id === id)
  if (flow?.phase !== 'exchanging') return flows
  return replaced(flows, { ...flow, phase: 'ended', outcome, expiresAt: now + FLOW_MS })
}

/** The flows as they are now. A flow that its user, or its process, did not finish in time is known as such for a while. */
export function aged(flows: Flows, now: number): Flows {
  return flows.flatMap((flow): Flows => {
    if (flow.expiresAt > now) return [flow]
    if (flow.phase === 'exchanging') return aged([interrupted(flow)], now)
    if (flow.phase === 'ended' || flow.phase === 'expired') return []
    const { id, expected } = flow
    const expiresAt = flow.expiresAt + EXPIRED_MS
    const state = 'state' in flow ? flow.state : undefined
    return expiresAt > now ? [{ phase: 'expired', id, expiresAt, expected, state }] : []
  })
}

/** An exchange whose process ended before it did. */
const interrupted = (flow: Extract<Flow, { phase: 'exchanging' }>): Flow => ({
  ...flow,
  phase: 'ended',
  outcome: { failed: 'exchange_incomplete' },
  expiresAt: flow.expiresAt + FLOW_MS,
})

/** The error for a flow that does not wait for the user, or is not known. */
const notWaiting = (flow: Flow | undefined) =>
  flow?.phase === 'expired'
    ? new ConnectError('consent_expired', undefined, { expected: flow.expected })
    : new ConnectError('missing_authorization_request')

const replaced = (flows: Flows, flow: Flow): Flows => flows.map((one) => (one.id === flow.id ? flow : one))
