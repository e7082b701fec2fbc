import type { Http, HttpRequest, HttpResponse } from '../connect/platform/http.ts'
import { parseJson } from '../connect/platform/http.ts'
import type { ProbeAnswer } from '../features/feature.ts'

export interface Exchange {
  request: HttpRequest
  answer: ProbeAnswer
  /** How long it took, in ms. */
  ms: number
}

/** An HTTP pool that keeps the last exchange, so that the probe sees the answer as it was sent. */
export interface Recorder extends Http {
  /** The last exchange; undefined if nothing was sent or answered since. */
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

export const toAnswer = ({ status, text, header }: HttpResponse): ProbeAnswer => ({
  status,
  json: parseJson(text),
  header,
})

/** Sends a request; null if there is no answer. */
export async function sent(http: Http, request: HttpRequest): Promise<ProbeAnswer | null> {
  return http.send(request).then(toAnswer, () => null)
}
