import type { Exchange } from './probe.ts'
import { Broken, type Rule, type Subject, Unchecked } from './rule.ts'
import { RULES } from './rules.ts'

export interface Finding {
  rule: Rule
  outcome: 'pass' | 'fail' | 'unchecked'
  /** Why it fails, or cannot be checked. */
  reason?: string
  /** The call that shows it. */
  exchange?: Exchange
}

/** Checks an implementation of the live pricing API against every rule, one after the other. */
export async function* checkSupplier(subject: Subject): AsyncGenerator<Finding> {
  for (const rule of RULES) {
    try {
      yield { rule, outcome: 'pass', exchange: await rule.check(subject) }
    } catch (error) {
      if (error instanceof Broken)
        yield { rule, outcome: 'fail', reason: error.message, exchange: error.exchange }
      else if (error instanceof Unchecked) yield { rule, outcome: 'unchecked', reason: error.message }
      else {
        // What no rule foresees, such as a number beyond all numbers, is a fault of the answer all the same.
        const exchange = subject.probe.exchanges.at(-1)
        const reason = `The answer cannot be worked with: ${(error as Error).message}`
        yield { rule, outcome: 'fail', reason, ...(exchange && { exchange }) }
      }
    }
  }
}
