import { setTimeout as pause } from 'node:timers/promises'
import { type Http, type HttpRequest, parseJson } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import { type DoctorHttp, isOutage, type Request, type Response, retryAfterOf } from '../doctor/http.ts'

export interface Exchange {
  request: HttpRequest
  answer: ProbeAnswer
  /** How long it took, in ms. */
  ms: number
}

/** An HTTP pool that keeps the last exchange, so that the probe sees the answer as it was sent. */
export interface Recorder extends Http {
  /** The last exchange since the previous call; undefined if nothing was answered. */
  take(): Exchange | undefined
}

export function createRecorder(http: Http): Recorder {
  let last: Exchange | undefined
  return {
    async send(request) {
      last = undefined
      const startedAt = performance.now()
      const response = await http.send(request)
      const { status, text, header } = response
      const answer = {
        status,
        text,
        json: parseJson(text),
        header,
        headerNames: Object.keys(response.headers),
      }
      last = { request, answer, ms: Math.round(performance.now() - startedAt) }
      return response
    },
    take() {
      const taken = last
      last = undefined
      return taken
    },
    close: () => http.close(),
  }
}

const MAX_WAIT_MS = 5_000

/** Sends a request; null if there is no answer, or only an outage. Waits once if the server says for how long. */
export async function sendOrNull(
  http: DoctorHttp,
  { url, ...request }: Request & { url: string },
): Promise<ProbeAnswer | null> {
  for (let attempt = 1; ; attempt++) {
    const answer = await http.send(url, request)
    if (answer.status === 0) return null
    // An outage says nothing about an assumption.
    if (!isOutage(answer)) return answer as Response
    const waitMs = retryAfterOf(answer as Response)
    if (attempt > 1 || waitMs === undefined || waitMs > MAX_WAIT_MS) return null
    await pause(waitMs)
  }
}
