import { randomUUID } from 'node:crypto'
import { describe, type Exchange, isSuccess, type Probe } from './exchange.ts'

/** A requirement of the live pricing API: a row of `rules.csv`, with its check. */
export interface Rule {
  id: string
  /** The requirement, as one sentence. */
  title: string
  /** The section of the specification that gives the rule. Without one it is assumed, as the specification is silent. */
  given?: string
  /** Rules that must pass first. If one does not, this rule is not checked: one cause has one finding. */
  needs: readonly string[]
  check: Check
}

/** Resolves to an exchange that proves a rule. Throws `RuleViolationError`, or `NotCheckedError` if undecidable. */
export type Check = (subject: Subject) => Promise<Exchange>

/** Checks by the ids of their rules. */
export type Checks = Readonly<Record<string, Check>>

/** The implementation under test and the data to test it with. */
export interface Subject {
  probe: Probe
  /** Codes of items that have a price at the store. */
  items: readonly string[]
  /** A store that sells them; by default, one found by the search. */
  storeId?: string
  /** A location with stores nearby; by default, several are tried. */
  near?: { latitude: number; longitude: number }
  memberNumber?: string
  /** Items that exist, each with a store that does not sell it. */
  notInRange?: readonly { itemId: string; storeId: string }[]
  /** How old a token must be when its lifetime is sampled, and how long to wait for its end, in ms; 5,000 by default. */
  patienceMs?: number
}

/** The implementation violates a rule, as `exchange` shows. */
export class RuleViolationError extends Error {
  readonly exchange: Exchange
  constructor(message: string, exchange: Exchange) {
    super(message)
    this.exchange = exchange
  }
}

/** A rule could not be checked. The message says why, and which option makes it checkable. */
export class NotCheckedError extends Error {}

/** An id or code that does not exist. */
export const UNKNOWN_ID = randomUUID()

/** Throws `NotCheckedError` if the implementation limits the number of calls: then the answer says nothing else. */
export function expectNoLimit({ status }: Exchange): void {
  if (status === 429)
    throw new NotCheckedError('the supplier limits the number of calls (429); run the check again later')
}

/** Throws `NotCheckedError` if a call proves nothing about its token, as it failed for another reason. */
export function expectAnswer(exchange: Exchange): void {
  expectNoLimit(exchange)
  if (exchange.status === 0 || exchange.status >= 500)
    throw new NotCheckedError(`the search returns ${describe(exchange)}`)
}

/** Throws `RuleViolationError` if the status differs. `when`: the request, as the subject of the message. */
export function expectStatus(exchange: Exchange, status: number, when: string): void {
  expectNoLimit(exchange)
  if (exchange.status !== status)
    throw new RuleViolationError(`${when} must return ${status}, not ${describe(exchange)}.`, exchange)
}

/** Throws `RuleViolationError` if a call that must be refused was not: it succeeded, or failed for another reason. */
export function expectRefused(exchange: Exchange, when: string): void {
  expectNoLimit(exchange)
  if (exchange.status === 0 || exchange.status >= 500)
    throw new RuleViolationError(`${when} must be refused, not return ${describe(exchange)}.`, exchange)
  if (isSuccess(exchange)) throw new RuleViolationError(`${when} must be refused, but succeeds.`, exchange)
}

/** Returns the JSON array of a 200 response. Throws `RuleViolationError` otherwise. */
export function arrayOf(exchange: Exchange, when: string): unknown[] {
  expectStatus(exchange, 200, when)
  if (exchange.json === undefined)
    throw new RuleViolationError(`${when} must return JSON: ${brokenJson(exchange)}.`, exchange)
  if (!Array.isArray(exchange.json))
    throw new RuleViolationError(
      `${when} must return a JSON array, also for one element: [{...}] and not {...}.`,
      exchange,
    )
  return exchange.json
}

/** The first of what was found. Throws `NotCheckedError` with this reason if there is nothing. */
export function firstOf<T>([first]: readonly T[], reason: string): T {
  if (first === undefined) throw new NotCheckedError(reason)
  return first
}

/** What is wrong with an answer, as a sentence; anything else if nothing is. */
export type Fault = string | false | undefined

/** A check that asks and judges each of the answers. Its proof is the exchange beside them. */
export function judgeEach<T extends { exchange: Exchange }>(
  ask: (subject: Subject) => Promise<{ exchange: Exchange; answers: readonly T[] }>,
  faultOf: (answer: T, subject: Subject) => Fault,
): Check {
  return async (subject) => {
    const { exchange, answers } = await ask(subject)
    for (const answer of answers) {
      const fault = faultOf(answer, subject)
      if (fault) throw new RuleViolationError(fault, answer.exchange)
    }
    return exchange
  }
}

/** A check that asks and judges the answer. */
export const judge = <T extends { exchange: Exchange }>(
  ask: (subject: Subject) => Promise<T>,
  faultOf: (answer: T, subject: Subject) => Fault,
) =>
  judgeEach(async (subject) => {
    const answer = await ask(subject)
    return { exchange: answer.exchange, answers: [answer] }
  }, faultOf)

/** A call and the status that it must return, or that it must be refused. `when`: the call, as the subject of the message. */
export type Demand = readonly [when: string, must: number | 'refusal', call: () => Promise<Exchange>]

/** A check that makes calls one after the other. Its proof is the last one. */
export function demand(listOf: (subject: Subject) => readonly Demand[] | Promise<readonly Demand[]>): Check {
  return async (subject) => {
    let last: Exchange | undefined
    for (const [when, must, call] of await listOf(subject)) {
      last = await call()
      if (must === 'refusal') expectRefused(last, when)
      else expectStatus(last, must, when)
    }
    if (!last) throw new NotCheckedError('there is nothing to call')
    return last
  }
}

/** What is wrong with a body that is not JSON. */
function brokenJson({ text }: Exchange): string {
  if (text.trim() === '') return 'the body is empty'
  // The bytes of gzip, read as text.
  if (text.charCodeAt(0) === 0x1f) return 'the body is compressed, and no Content-Encoding says so'
  try {
    JSON.parse(text)
  } catch (error) {
    const [position] = /at position \d+/.exec((error as Error).message) ?? []
    return position
      ? `it breaks ${position} of ${text.length} characters`
      : `it ends after ${text.length} characters`
  }
  return 'it is not valid'
}

/** Makes a function that reads something about a subject once, and then returns the same result. */
export function remember<T>(read: (subject: Subject) => Promise<T>): (subject: Subject) => Promise<T> {
  const known = new WeakMap<Subject, Promise<T>>()
  return (subject) => {
    const result = known.get(subject) ?? read(subject)
    known.set(subject, result)
    return result
  }
}

/** Calls a path with a token. Throws `NotCheckedError` if there is none. */
export async function withToken({ probe }: Subject, path: string, body?: unknown): Promise<Exchange> {
  const exchange = await probe.authorized(path, body)
  if (!exchange) throw new NotCheckedError('no access token was issued')
  return exchange
}
