import { contextOf, type WorkContext } from '../context.ts'
import type { Http, HttpRequest, HttpResponse } from './http.ts'

/**
 * A request to the platform and its answer, unmasked. They include tokens, codes and the client secret, so a listener must mask
 * these before it stores, logs or shows an exchange.
 */
export interface Exchange {
  /** `token`: to the token or the revocation endpoint. `api`: one attempt of an API call. */
  purpose: 'token' | 'api'
  context: WorkContext
  /** When it began, in ms since 1970. */
  at: number
  /** How long it took, in ms. */
  ms: number
  request: HttpRequest
  /** Undefined if there was no complete answer. */
  response: HttpResponse | undefined
}

/** Runs synchronously, before the caller gets the answer. Its errors have no effect. */
export type ExchangeListener = (exchange: Exchange) => void

/** Wraps a client, so that the listeners see its exchanges. */
export const observed = (
  http: Http,
  purpose: Exchange['purpose'],
  listeners: ReadonlySet<ExchangeListener>,
): Http => ({
  ...http,
  async send(request) {
    const at = Date.now()
    let response: HttpResponse | undefined
    try {
      response = await http.send(request)
      return response
    } finally {
      const context = contextOf(request.connection)
      const exchange: Exchange = { purpose, context, at, ms: Date.now() - at, request, response }
      for (const listener of listeners)
        try {
          listener(exchange)
        } catch {
          // A listener's error must not affect the exchange.
        }
    }
  },
})
