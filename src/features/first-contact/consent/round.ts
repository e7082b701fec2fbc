import { setTimeout as pause } from 'node:timers/promises'
import type { HttpRequest } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../../web/kit.ts'
import { isOutage, isResponse } from '../answers.ts'
import type { Client } from '../client.ts'
import type { Target } from '../platform/target.ts'
import type { Comparisons } from './comparisons.ts'

/** One or more consents, and what is seen of the platform with them. The first consent after a check begins another round. */
export interface Round {
  target: Target
  comparisons: Comparisons
  grants: Grant[]
  /** Whether the first grant was checked. */
  isChecked: boolean
  /** Whether the first grant still works after the check. */
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

/** There was no answer, or only that of an outage, which says nothing about an assumption. It ends that part of the check. */
class NoAnswerError extends Error {}

/** Ends a part of the check that got no answer. Another run may see what this part could not see. */
export function ignoreNoAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error
}

const MAX_WAIT_MS = 5_000

/** Sends a request. After an outage, sends it once more if the server asks to wait for 5 s or less. Throws `NoAnswerError`. */
export async function ask(client: Client, request: HttpRequest, tries = 2): Promise<ProbeAnswer> {
  const answer = await client.send(request)
  if (isResponse(answer) && !isOutage(answer)) return answer
  const waitMs = isResponse(answer) ? (answer.retryAfterMs ?? Infinity) : Infinity
  if (tries === 1 || waitMs > MAX_WAIT_MS) throw new NoAnswerError()
  await pause(waitMs)
  return ask(client, request, tries - 1)
}

/** A request to the API with this token. */
export function apiRequest({ apiUrl }: Target, path: string, token: string, body?: object): HttpRequest {
  const headers = { authorization: `Bearer ${token}` }
  if (!body) return { method: 'GET', url: apiUrl + path, headers }
  const json = { ...headers, 'content-type': 'application/json' }
  return { method: 'POST', url: apiUrl + path, headers: json, body: JSON.stringify(body) }
}
