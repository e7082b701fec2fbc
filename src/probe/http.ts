import { setTimeout as pause } from 'node:timers/promises'
import { type Http, type HttpRequest, type HttpResponse, parseJson } from '../connect/platform/http.ts'
import type { ProbeAnswer } from '../features/feature.ts'

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
      last = { request, answer: toAnswer(response), ms: Math.round(performance.now() - startedAt) }
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

const toAnswer = ({ status, text, header, headerNames }: HttpResponse): ProbeAnswer => ({
  status,
  json: parseJson(text),
  header,
  headerNames: headerNames(),
})

/** Whether the server could not answer now: that says nothing about an assumption. */
export const isOutage = ({ status }: ProbeAnswer): boolean => status >= 500 || status === 429

const MAX_WAIT_MS = 5_000

/** Sends a request; null if there is no answer, or only an outage. Waits once if the server says for how long. */
export async function sendOrNull(http: Http, request: HttpRequest): Promise<ProbeAnswer | null> {
  for (let attempt = 1; ; attempt++) {
    const response = await http.send(request).catch(() => null)
    if (!response) return null
    const answer = toAnswer(response)
    if (!isOutage(answer)) return answer
    const { retryAfterMs } = response
    if (attempt > 1 || retryAfterMs === undefined || retryAfterMs > MAX_WAIT_MS) return null
    await pause(retryAfterMs)
  }
}

/** A pool that sends nothing and keeps the request that the app would send. */
export function createRequestCatcher() {
  let caught: HttpRequest | undefined
  return {
    http: {
      send: async (request: HttpRequest) => {
        caught = request
        throw new Error('caught instead of sent')
      },
      close: async () => {},
    } satisfies Http,
    request: () => caught,
  }
}
