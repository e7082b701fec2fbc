import { describe, type Exchange } from './http.ts'

/** The implementation breaks a rule, as `exchange` shows. */
export class WrongError extends Error {
  readonly exchange: Exchange
  constructor(exchange: Exchange, message: string) {
    super(message)
    this.exchange = exchange
  }
}

/** A rule could not be decided. The message says why, and which option helps. */
export class UnprovenError extends Error {}

/** The exchange, if the rule holds in it. Throws `WrongError` with this message otherwise. */
export function expectThat(holds: boolean, exchange: Exchange, message: string): Exchange {
  if (!holds) throw new WrongError(exchange, message)
  return exchange
}

/** The exchange, if its status is one of these. Throws `WrongError` otherwise. `what`: the subject of the message. */
export function expectStatus(exchange: Exchange, statuses: readonly number[], what: string): Exchange {
  const message = `${what} must return ${statuses.join(' or ')}, not ${describe(exchange)}.`
  return expectThat(statuses.includes(exchange.status), exchange, message)
}

/** The first of what was found. Throws `UnprovenError` with this reason if there is nothing. */
export function firstOf<T>([first]: readonly T[], reason: string): T {
  if (first === undefined) throw new UnprovenError(reason)
  return first
}

/** Makes calls one after the other, and resolves to the last exchange. Throws `UnprovenError` if there are none. */
export async function inTurn<T>(
  all: readonly T[],
  call: (one: T) => Exchange | Promise<Exchange>,
  reason = 'there is nothing to ask',
): Promise<Exchange> {
  let last = await call(firstOf(all, reason))
  for (const one of all.slice(1)) last = await call(one)
  return last
}
