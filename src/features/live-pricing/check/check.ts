import type { Exchange } from './probe.ts'
import { NotCheckedError, type Rule, RuleViolationError, type Subject } from './rule.ts'
import { RULES } from './rules.ts'

/** The result of a rule. */
export interface Finding {
  rule: Rule
  outcome: 'pass' | 'fail' | 'unchecked'
  /** Why the rule failed or could not be checked. */
  reason?: string
  /** The call that proves it. */
  exchange?: Exchange
}

/** Checks an implementation of the live pricing API against every rule, in order. Never throws. */
export async function* checkSupplier(subject: Subject): AsyncGenerator<Finding> {
  for (const rule of RULES) {
    try {
      yield { rule, outcome: 'pass', exchange: await rule.check(subject) }
    } catch (error) {
      if (error instanceof RuleViolationError)
        yield { rule, outcome: 'fail', reason: error.message, exchange: error.exchange }
      else if (error instanceof NotCheckedError) yield { rule, outcome: 'unchecked', reason: error.message }
      else {
        // An unexpected response, such as a number that overflows, is a failure as well.
        const exchange = subject.probe.exchanges.at(-1)
        const reason = `The response cannot be processed: ${(error as Error).message}`
        yield { rule, outcome: 'fail', reason, ...(exchange && { exchange }) }
      }
    }
  }
}
