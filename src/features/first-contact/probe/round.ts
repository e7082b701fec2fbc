import type { Config } from '../../../config.ts'
import type { HttpRequest, OAuth } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import { type DoctorHttp, isOutage } from '../doctor/http.ts'
import type { Exchange, Recorder } from './http.ts'
import type { createRecording } from './recording.ts'
import type { Results } from './results.ts'

/** One or more consents, and the checks that end the first of them. */
export interface Round {
  config: Config
  http: DoctorHttp
  /** Where `oauth` sends its requests. */
  recorder: Recorder
  oauth: OAuth
  results: Results
  recording: ReturnType<typeof createRecording>
  grants: Grant[]
}

/** The tokens of one consent. */
export interface Grant {
  bxcontext: string
  accessToken: string
  /** The refresh token of the exchange; undefined if the platform issued none. */
  issuedRefreshToken: string | undefined
  /** The latest one. */
  refreshToken: string | undefined
  /** The request that exchanged the code. */
  exchange: HttpRequest
}

/** The grant in a token response; undefined if it is a refusal. */
export function grantOf({ request, answer }: Exchange, bxcontext: string): Grant | undefined {
  const { access_token: accessToken, refresh_token: refreshToken } = Object(answer.json)
  if (answer.status < 200 || answer.status > 299 || typeof accessToken !== 'string') return undefined
  const issued = typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined
  return { bxcontext, accessToken, issuedRefreshToken: issued, refreshToken: issued, exchange: request }
}

/** `no answer`: none, or an outage, which says nothing about the token. */
export type Refreshed =
  | { outcome: 'refreshed' | 'refused'; answer: ProbeAnswer }
  | { outcome: 'no answer'; answer: undefined }

/** Refreshes with this token, and keeps the tokens of the response in the grant. */
export async function refresh(
  { oauth, recorder }: Round,
  grant: Grant,
  refreshToken: string,
): Promise<Refreshed> {
  recorder.take()
  await oauth.refresh({ refreshToken, bxcontext: grant.bxcontext }).catch(() => {})
  const answer = recorder.take()?.answer
  if (!answer || isOutage(answer)) return { outcome: 'no answer', answer: undefined }
  const { access_token: accessToken, refresh_token: next } = Object(answer.json)
  if (answer.status > 299 || typeof accessToken !== 'string') return { outcome: 'refused', answer }
  grant.accessToken = accessToken
  if (typeof next === 'string' && next !== '') grant.refreshToken = next
  return { outcome: 'refreshed', answer }
}
