/** A request and its answer. */
export interface Exchange {
  /** The method, the path and the body, except the body of a token request. */
  request: string
  status: number
  /** The parsed body; undefined if it isn't JSON. */
  json: unknown
}

/** The supplier breaks a rule, or the rule can't be decided, as `exchange` shows. */
export class NotPassedError extends Error {
  readonly outcome: 'failed' | 'undecided'
  readonly exchange: Exchange
  constructor(outcome: 'failed' | 'undecided', message: string, exchange: Exchange) {
    super(message)
    this.outcome = outcome
    this.exchange = exchange
  }
}

/** Throws `NotPassedError` if a request is refused, because the supplier may use names other than the assumed names. */
export function expectUnderstood(exchange: Exchange): void {
  if (exchange.status < 400 || exchange.status > 499) return
  const message = `The request is refused (${exchange.status}). If your names differ, give them with --names.`
  throw new NotPassedError('undecided', message, exchange)
}

/** Whether a value is a JSON object. */
export const isRecord = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/** The value of a field, by its name or its path. */
export const fieldOf = (json: unknown, path: string): unknown =>
  path.split('.').reduce((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    return isRecord(value) ? value[name] : undefined
  }, json)

/** The value of a field whose name is assumed. Throws `NotPassedError` if the field is missing. */
export function namedField(exchange: Exchange, name: string, json = exchange.json): unknown {
  const value = fieldOf(json, name)
  if (value !== undefined && value !== null) return value
  const message = `The answer has no field ${name}. If its name differs, give it with --names.`
  throw new NotPassedError('undecided', message, exchange)
}

/** Describes an answer, to complete "must return …, not …". */
export function shapeOf({ status, json }: Exchange): string {
  if (status !== 200) return String(status)
  if (Array.isArray(json)) return `an array of ${json.length}`
  return json === undefined ? 'text that is no JSON' : `a JSON ${typeof json}`
}
