import { contextOf, type WorkContext } from '../context.ts'
import type { Http, HttpRequest, HttpResponse } from './http.ts'

/**
 * One request to the platform and its answer, as they were sent: with tokens, codes and the client secret. A listener that
 * stores, logs or shows any of it masks it first.
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

export interface Exchanges {
  /** Calls `listener` after each exchange. Returns a function that ends this. */
  onExchange(listener: ExchangeListener): () => void
  /** A client whose requests the listeners see. Without a listener it costs nothing. */
  observed(http: Http, purpose: Exchange['purpose']): Http
}

/** Creates the list of those who want to see the exchanges with the platform. */
export function createExchanges(): Exchanges {
  const listeners = new Set<ExchangeListener>()

  async function send(http: Http, purpose: Exchange['purpose'], request: HttpRequest): Promise<HttpResponse> {
    const at = Date.now()
    let response: HttpResponse | undefined
    try {
      response = await http.send(request)
      return response
    } finally {
      const context = contextOf(request.connection)
      const exchange: Exchange = { purpose, context, at, ms: Date.now() - at, request, response }
      for (const listener of listeners) tell(listener, exchange)
    }
  }

  return {
    onExchange(listener) {
      // A function of its own, so that the same listener may be added twice.
      const added: ExchangeListener = (exchange) => listener(exchange)
      listeners.add(added)
      return () => void listeners.delete(added)
    },
    observed: (http, purpose) => ({
      ...http,
      send: (request) => (listeners.size === 0 ? http.send(request) : send(http, purpose, request)),
    }),
  }
}

function tell(listener: ExchangeListener, exchange: Exchange): void {
  try {
    listener(exchange)
  } catch {
    // What a listener does must not affect the exchange.
  }
}
