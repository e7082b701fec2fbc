import { randomUUID } from 'node:crypto'
import { type Exchange, NotPassedError, shapeOf } from './answer.ts'
import type { SupplierClient } from './client.ts'
import type { SupplierFile } from './supplier-file.ts'

/** A rule that the supplier integration specification states. */
export interface Rule {
  /** The section of the specification that states it, such as `2.1`, and the rule as a sentence. */
  given: readonly [section: string, sentence: string]
  /** A rule that must pass first. If it doesn't, this rule is undecided, so that each cause is reported only once. */
  needs?: string
  /** Why the rule can't be checked with the known facts about a supplier; undefined if it can. */
  skip?(supplier: Supplier): string | undefined
  check: Check
}

/** Rules by their ids, in the order in which they are checked. */
export type Rules = Readonly<Record<string, Rule>>

/** Resolves if the supplier follows the rule. Throws `NotPassedError` otherwise. */
export type Check = (supplier: Supplier) => Promise<void>

/** The implementation to check, and the known facts about it. */
export interface Supplier extends SupplierFile {
  client: SupplierClient
}

/** An id or code that doesn't exist. */
export const UNKNOWN_ID = randomUUID()

/** A check that requests answers and judges each answer. `faultOf`: describes the problem in a sentence, or returns undefined. */
export const judge =
  <T extends Exchange>(
    ask: (supplier: Supplier) => Promise<readonly T[]>,
    faultOf: (answer: T, supplier: Supplier) => string | undefined,
  ): Check =>
  async (supplier) => {
    for (const answer of await ask(supplier)) {
      const fault = faultOf(answer, supplier)
      if (fault !== undefined) throw new NotPassedError('failed', fault, answer)
    }
  }

/** A call and its expected status. `when`: describes the call, as the subject of the message. */
type Demand = readonly [when: string, status: number, call: () => Promise<Exchange>]

/** A check that makes calls, one after the other. */
export const demand =
  (listOf: (supplier: Supplier) => readonly Demand[]): Check =>
  async (supplier) => {
    for (const [when, status, call] of listOf(supplier)) {
      const exchange = await call()
      const message = `${when} must return ${status}, not ${shapeOf(exchange)}.`
      if (exchange.status !== status) throw new NotPassedError('failed', message, exchange)
    }
  }
