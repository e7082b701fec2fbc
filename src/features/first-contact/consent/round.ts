import { setTimeout as pause } from 'node:timers/promises'
import type { HttpRequest } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../../web/kit.ts'
import { isOutage, isResponse } from '../answers.ts'
import type { Client } from '../client.ts'
import type { Target } from '../platform/target.ts'
import type { Comparisons } from './comparisons.ts'

/** One or more consents, and what is seen of them until a check ends the first one. */
export interface Round {
  target: Target
  comparisons: Comparisons
  grants: Grant[]
  /** Whether the first grant was checked. After that, another consent begins another round. */
  isChecked: boolean
  /** Whether the consent works after the check. */
  isAlive: boolean
}

/** The tokens of one consent. */
export interface Grant {
  bxcontext: string
  accessToken: string
  /** The refresh token of the exchange; undefined if the platform issued none. */
  issuedRefreshToken: string | undefined
  /** The latest refresh token. */
  refreshToken: string | undefined
  /** The request that exchanged the code. */
  exchange: HttpRequest
}

export const NO_ANSWER = 'no usable answer. Run the check again.'

const MAX_WAIT_MS = 5_000

/** Sends a request; null if there is no answer, or only an outage. Tries once more if the server says how long to wait. */
export async function sendOrNull(client: Client, request: HttpRequest): Promise<ProbeAnswer | null> {
  const answer = await client.send(request)
  if (!isResponse(answer)) return null
  // An outage says nothing about an assumption.
  if (!isOutage(answer)) return answer
  const { retryAfterMs } = answer
  if (retryAfterMs === undefined || retryAfterMs > MAX_WAIT_MS) return null
  await pause(retryAfterMs)
  const again = await client.send(request)
  return isResponse(again) && !isOutage(again) ? again : null
}

/** A request to the API with this token. */
export function apiRequest({ apiUrl }: Target, path: string, token: string, body?: object): HttpRequest {
  const headers = { authorization: `Bearer ${token}` }
  if (!body) return { method: 'GET', url: apiUrl + path, headers }
  const json = { ...headers, 'content-type': 'application/json' }
  return { method: 'POST', url: apiUrl + path, headers: json, body: JSON.stringify(body) }
}
