import type { SupplierClient } from './client.ts'
import { CREDENTIAL_RULES } from './credential-rules.ts'
import type { Exchange } from './http.ts'
import { NEAREST_RULES } from './nearest-rules.ts'
import { UnprovenError, WrongError } from './outcomes.ts'
import { PRICE_RULES } from './price-rules.ts'
import type { Rule, Rules, Supplier } from './rule.ts'
import { STORE_RULES } from './store-rules.ts'
import { LIFETIME_RULES, TOKEN_RULES } from './token-rules.ts'
import { TRUE_PRICE_RULES } from './true-price-rules.ts'

/** The rules about stores and prices: each needs endpoints that accept the token. */
const WITH_TOKEN: Rules = { ...NEAREST_RULES, ...STORE_RULES, ...PRICE_RULES, ...TRUE_PRICE_RULES }

/** Every rule, in the order in which they are checked. The wrong secrets come last, as a supplier may limit those. */
export const RULES: Rules = { ...TOKEN_RULES, ...WITH_TOKEN, ...LIFETIME_RULES, ...CREDENTIAL_RULES }

/** What the check found out about a rule. */
export interface Finding {
  id: string
  rule: Rule
  outcome: 'proven' | 'wrong' | 'unproven'
  /** Why the rule is wrong or unproven, without secrets. */
  reason?: string
  /** The call that shows it, without secrets. The status is 0 if there was no answer. */
  call?: { request: string; status: number; answer: string }
}

/** Checks a supplier against every rule, in order. Never throws. A rule is checked only if those that it needs are proven. */
export async function* checkSupplier(supplier: Supplier): AsyncGenerator<Finding> {
  const outcomes = new Map<string, Finding['outcome']>()
  for (const [id, rule] of Object.entries(RULES)) {
    const needs = [...(id in WITH_TOKEN ? ['token.accepted'] : []), ...(rule.needs ?? [])]
    const need = needs.find((other) => outcomes.get(other) !== 'proven')
    const reason = `it needs ${need}, which is ${outcomes.get(need ?? '')}`
    const finding =
      need === undefined ? await decide(rule, supplier) : { outcome: 'unproven' as const, reason }
    outcomes.set(id, finding.outcome)
    yield { id, rule, ...finding }
  }
}

async function decide(rule: Rule, supplier: Supplier): Promise<Omit<Finding, 'id' | 'rule'>> {
  const { client } = supplier
  try {
    return { outcome: 'proven', call: show(await rule.check(supplier), client) }
  } catch (error) {
    const message = client.redact(error instanceof Error ? error.message : String(error))
    if (error instanceof WrongError)
      return { outcome: 'wrong', reason: message, call: show(error.exchange, client) }
    if (error instanceof UnprovenError) return { outcome: 'unproven', reason: message }
    return { outcome: 'unproven', reason: `an answer could not be processed (${message})` }
  }
}

const SHOWN_LENGTH = 10_000
/** Far more than is shown, so that no secret is cut before it is hidden. */
const READ_LENGTH = 100_000

function show({ request, status, text, json }: Exchange, client: SupplierClient) {
  // JSON may escape any character of a secret: parsing it undoes that.
  const answer = text.includes('\\') && json !== undefined ? JSON.stringify(json) : text
  const shown = (part: string) => client.redact(part.slice(0, READ_LENGTH)).slice(0, SHOWN_LENGTH)
  return { request: shown(request), status, answer: shown(answer) }
}
