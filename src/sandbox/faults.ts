import type { RequestHandler, Response } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT } from './api.ts'

/** Faults of any HTTP endpoint. */
export const HTTP_FAULTS = ['500', '429', 'stall', 'garbage', 'drop'] as const
/** Faults of API operations behind the guard. */
export const API_FAULTS = [...HTTP_FAULTS, 'expired', 'forbidden'] as const
const TOKEN_FAULTS = [...HTTP_FAULTS, 'slow', 'short_lived', 'invalid_grant', 'invalid_client'] as const
/** Lifetime of an access token under the fault `short_lived`, in seconds. */
export const SHORT_LIFE_SECONDS = 1

/** The faults that each endpoint can have. */
export type PossibleFaults = Record<string, readonly string[]>

export const CORE_FAULTS: PossibleFaults = {
  consent: ['deny', 'server_error', 'missing_scope'],
  exchange: TOKEN_FAULTS,
  refresh: TOKEN_FAULTS,
}

export interface Fault {
  endpoint: string
  fault: string
  /** How many more calls the fault affects; null if it stays until it is cleared. */
  times: number | null
  /** The `Retry-After` of a 429, in seconds. */
  retryAfter: number
}

const emptyIsAbsent = (value: unknown) => (value === '' ? undefined : value)
const wholeNumber = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`
  return z.coerce.number(rule).int(rule).min(min, rule).max(max, rule)
}

/** The body of `POST /sandbox/faults`; `fault: "none"` clears the endpoint. */
const faultSchema = (possible: PossibleFaults) =>
  z
    .object(
      {
        endpoint: z.enum(Object.keys(possible), `must be one of ${Object.keys(possible).join(', ')}`),
        fault: z.string('must be none or a fault of the endpoint'),
        times: z.preprocess(emptyIsAbsent, wholeNumber(1, 1000).optional()),
        retryAfter: z.preprocess(emptyIsAbsent, wholeNumber(0, 3600).default(2)),
      },
      NOT_AN_OBJECT,
    )
    .refine(({ endpoint, fault }) => fault === 'none' || possible[endpoint]?.includes(fault), {
      path: ['fault'],
      error: ({ input }) =>
        `must be none or one of ${possible[(input as { endpoint: string }).endpoint]?.join(', ')}`,
    })

export type Faults = ReturnType<typeof createFaults>
export type FaultSetting = z.output<ReturnType<typeof faultSchema>>

/** The active faults, at most one for each endpoint. */
export function createFaults(possible: PossibleFaults) {
  const schema = faultSchema(possible)
  const active = new Map<string, Fault>()
  return {
    possible,
    schema,
    list: (): Fault[] => [...active.values()],
    set({ endpoint, fault, times, retryAfter }: FaultSetting) {
      if (fault === 'none') active.delete(endpoint)
      else active.set(endpoint, { endpoint, fault, times: times ?? null, retryAfter })
    },
    clear: () => active.clear(),
    /** Whether the endpoint has this fault; does not count as a call. */
    has: (endpoint: string, fault: string) => active.get(endpoint)?.fault === fault,
    /** The fault that affects this call, if any; counts the call. */
    strike(endpoint: string): Fault | undefined {
      const fault = active.get(endpoint)
      if (fault?.times && --fault.times === 0) active.delete(endpoint)
      return fault
    },
  }
}

/** If the endpoint has a fault, sends the fault's response instead of the API's. */
export function apiFaults(faults: Faults, endpoint: string, scope: string): RequestHandler {
  return (_req, res, next) => {
    const fault = faults.strike(endpoint)
    if (!fault) return next()
    if (fault.fault === 'expired') sendInvalidToken(res, 'the access token has expired')
    else if (fault.fault === 'forbidden') sendInsufficientScope(res, scope)
    else sendFault(res, fault)
  }
}

/** RFC 6750 section 3.1. */
export function sendInvalidToken(res: Response, description?: string): void {
  const detail = description ? `, error_description="${description}"` : ''
  res.set('WWW-Authenticate', `Bearer error="invalid_token"${detail}`)
  res.status(401).json({ error: 'invalid_token' })
}

export function sendInsufficientScope(res: Response, scope: string): void {
  res.set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  res.status(403).json({ error: 'insufficient_scope' })
}

/** Sends the response of a fault, of any HTTP endpoint or of the token endpoint. */
export function sendFault(res: Response, { fault, retryAfter }: Fault): void {
  if (fault === '500') res.status(500).json({ error: 'server_error' })
  else if (fault === '429')
    res.status(429).set('Retry-After', String(retryAfter)).json({ error: 'too_many_requests' })
  else if (fault === 'garbage') res.type('html').send('<!doctype html><title>Down for maintenance</title>')
  else if (fault === 'drop') res.destroy()
  else if (fault === 'invalid_client') res.status(401).json({ error: fault })
  else if (fault === 'invalid_grant') res.status(400).json({ error: fault })
  // 'stall': no response, until the caller gives up.
}
