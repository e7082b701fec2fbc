import type { RequestHandler, Response } from 'express'
import * as z from 'zod'

/** What can be made to go wrong, and where. */
const HTTP_FAULTS = ['500', '429', 'stall', 'garbage', 'drop'] as const
const API_FAULTS = [...HTTP_FAULTS, 'expired', 'forbidden'] as const
const TOKEN_FAULTS = [...HTTP_FAULTS, 'slow', 'invalid_grant', 'invalid_client'] as const
/** How long a slow token endpoint takes, in ms. */
export const SLOW_MS = 6_000
const CONSENT_FAULTS = ['deny', 'server_error', 'missing_scope'] as const
export const FAULTS = {
  consent: CONSENT_FAULTS,
  exchange: TOKEN_FAULTS,
  refresh: TOKEN_FAULTS,
  login: HTTP_FAULTS,
  leads: API_FAULTS,
  catalogues: API_FAULTS,
  items: API_FAULTS,
  import: ['failed'],
} as const

export type Endpoint = keyof typeof FAULTS
export type FaultName = (typeof FAULTS)[Endpoint][number]

export interface Fault {
  endpoint: Endpoint
  fault: FaultName
  /** How many calls it still strikes; null: until it is cleared. */
  times: number | null
  /** Seconds, told in `Retry-After` with a 429. */
  retryAfter: number
}

const ENDPOINTS = Object.keys(FAULTS) as [Endpoint, ...Endpoint[]]
const emptyIsAbsent = (value: unknown) => (value === '' ? undefined : value)

/** The body of `POST /sandbox/faults`; `fault: "none"` clears the endpoint. */
export const faultSchema = z
  .object({
    endpoint: z.enum(ENDPOINTS),
    fault: z.string(),
    times: z.preprocess(emptyIsAbsent, z.coerce.number().int().min(1).max(1000).optional()),
    retryAfter: z.preprocess(emptyIsAbsent, z.coerce.number().int().min(0).max(3600).default(2)),
  })
  .refine(
    ({ endpoint, fault }) => fault === 'none' || (FAULTS[endpoint] as readonly string[]).includes(fault),
    {
      path: ['fault'],
      error: ({ input }) =>
        `must be none or one of ${FAULTS[(input as { endpoint: Endpoint }).endpoint].join(', ')}`,
    },
  )

export type Faults = ReturnType<typeof createFaults>

/** The faults in force, one an endpoint; each stays until its times are used up or it is cleared. */
export function createFaults() {
  const inForce = new Map<Endpoint, Fault>()
  return {
    list: (): Fault[] => [...inForce.values()],
    set({ endpoint, fault, times, retryAfter }: z.output<typeof faultSchema>) {
      if (fault === 'none') inForce.delete(endpoint)
      else inForce.set(endpoint, { endpoint, fault: fault as FaultName, times: times ?? null, retryAfter })
    },
    clear: () => inForce.clear(),
    /** The fault that strikes this call, if any; counts it. */
    strike(endpoint: Endpoint): Fault | undefined {
      const fault = inForce.get(endpoint)
      if (fault?.times && --fault.times === 0) inForce.delete(endpoint)
      return fault
    },
  }
}

/** Lets a fault of this endpoint answer in place of the API. */
export function apiFaults(faults: Faults, endpoint: Endpoint): RequestHandler {
  return (_req, res, next) => {
    const fault = faults.strike(endpoint)
    if (!fault) return next()
    if (fault.fault === 'expired') {
      res.set(
        'WWW-Authenticate',
        'Bearer error="invalid_token", error_description="the access token has ended"',
      )
      return void res.status(401).json({ error: 'invalid_token' })
    }
    if (fault.fault === 'forbidden') {
      res.set(
        'WWW-Authenticate',
        `Bearer error="insufficient_scope", scope="${endpoint === 'leads' ? 'leads' : 'catalogues'}"`,
      )
      return void res.status(403).json({ error: 'insufficient_scope' })
    }
    fail(res, fault)
  }
}

/** The faults that any HTTP endpoint can have. */
export function fail(res: Response, { fault, retryAfter }: Fault): void {
  if (fault === '500') res.status(500).json({ error: 'server_error' })
  else if (fault === '429')
    res.status(429).set('Retry-After', String(retryAfter)).json({ error: 'too_many_requests' })
  else if (fault === 'garbage') res.type('html').send('<!doctype html><title>Down for maintenance</title>')
  else if (fault === 'drop') res.destroy()
  else if (fault === 'invalid_client') res.status(401).json({ error: fault })
  else if (fault === 'invalid_grant') res.status(400).json({ error: fault })
  // 'stall': no answer, until the caller gives up.
}
