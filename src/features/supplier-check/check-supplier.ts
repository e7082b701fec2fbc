import type { Exchange, Probe } from './exchange.ts'
import { NotCheckedError, type Rule, RuleViolationError, type Subject } from './rule.ts'
import { RULES } from './rules.ts'

/** The result of a rule. */
export interface Finding {
  rule: Rule
  outcome: 'pass' | 'fail' | 'unchecked'
  /** Why the rule failed or could not be checked, without secrets. */
  reason?: string
  /** The call that proves it, without secrets. */
  call?: ShownCall
}

/** A request and its response as they may be shown. */
export interface ShownCall {
  request: string
  /** 0 if there was no response. */
  status: number
  answer: string
}

/**
 * Checks an implementation of the live pricing API against every rule, in order. Never throws. A rule is checked only if
 * those that it needs have passed.
 */
export async function* checkSupplier(subject: Subject): AsyncGenerator<Finding> {
  const outcomes = new Map<string, Finding['outcome']>()
  for (const rule of RULES) {
    const finding = missing(rule, outcomes) ?? (await decide(rule, subject))
    outcomes.set(rule.id, finding.outcome)
    yield finding
  }
}

/** Whether a finding counts: with `givenOnly`, only a broken rule that the specification gives. */
export function isBroken({ rule, outcome }: Finding, givenOnly = false): boolean {
  return outcome === 'fail' && !(givenOnly && rule.given === undefined)
}

/** Whether a rule that the specification gives could not be checked. */
export const isUnproven = ({ rule, outcome }: Finding): boolean =>
  outcome === 'unchecked' && rule.given !== undefined

function missing(rule: Rule, outcomes: Map<string, Finding['outcome']>): Finding | undefined {
  const need = rule.needs.find((id) => outcomes.get(id) !== 'pass')
  if (need === undefined) return undefined
  const state = outcomes.get(need) === 'fail' ? 'is broken' : 'was not checked'
  return { rule, outcome: 'unchecked', reason: `it needs ${need}, which ${state}` }
}

async function decide(rule: Rule, subject: Subject): Promise<Finding> {
  const { probe } = subject
  try {
    return { rule, outcome: 'pass', call: show(await rule.check(subject), probe) }
  } catch (error) {
    if (error instanceof RuleViolationError) {
      const call = show(error.exchange, probe)
      return { rule, outcome: 'fail', reason: probe.redact(error.message), call }
    }
    const reason =
      error instanceof NotCheckedError
        ? probe.redact(error.message)
        : `this program could not process an answer (${(error as Error).name})`
    return { rule, outcome: 'unchecked', reason }
  }
}

const SHOWN_LENGTH = 10_000
/** Far more than is shown, so that no secret is cut before it is hidden. */
const READ_LENGTH = 100_000

function show({ request, status, text, json }: Exchange, { redact }: Probe): ShownCall {
  // JSON may escape any character of a secret: parsing it undoes that.
  const plain = text.includes('\\') && json !== undefined ? JSON.stringify(json) : text
  const [sent, answer] = [request, plain].map((part) =>
    redact(part.slice(0, READ_LENGTH)).slice(0, SHOWN_LENGTH),
  ) as [string, string]
  return { request: sent, status, answer }
}
