import { NotPassedError } from './answer.ts'
import { SupplierClient } from './client.ts'
import type { Rule, Supplier } from './rule.ts'
import { RULES } from './rules.ts'
import type { SupplierFile } from './supplier-file.ts'

/** The result of checking a rule. */
export interface Finding {
  id: string
  rule: Rule
  outcome: 'passed' | 'failed' | 'undecided' | 'skipped'
  /** Why the rule did not pass, and the request that shows the problem. */
  reasons: readonly string[]
}

/** Checks a supplier against every rule, in order. */
export async function* checkSupplier(file: SupplierFile): AsyncGenerator<Finding> {
  const supplier = { ...file, client: new SupplierClient(file) }
  const passed = new Set<string>()
  for (const [id, rule] of Object.entries(RULES)) {
    const finding = { id, rule, ...(await decide(rule, supplier, passed)) }
    if (finding.outcome === 'passed') passed.add(id)
    yield finding
  }
}

async function decide(
  { needs, skip, check }: Rule,
  supplier: Supplier,
  passed: ReadonlySet<string>,
): Promise<Pick<Finding, 'outcome' | 'reasons'>> {
  const skipped = skip?.(supplier)
  if (skipped !== undefined) return { outcome: 'skipped', reasons: [skipped] }
  if (needs !== undefined && !passed.has(needs))
    return { outcome: 'undecided', reasons: [`It needs ${needs}, which has not passed.`] }
  try {
    await check(supplier)
    return { outcome: 'passed', reasons: [] }
  } catch (error) {
    if (!(error instanceof NotPassedError)) throw error
    return { outcome: error.outcome, reasons: [error.message, `> ${error.exchange.request}`] }
  }
}

const MARKS = { passed: 'passed   ', failed: 'FAILED   ', undecided: 'undecided', skipped: 'skipped  ' }

/** Formats a finding as lines of text. */
export function linesOf({ id, rule, outcome, reasons }: Finding): string[] {
  const [section, sentence] = rule.given
  const head = `${MARKS[outcome]}  ${id.padEnd(19)}  ${sentence} (§${section})`
  return [head, ...reasons.map((line) => `           ${line}`)]
}

/** 1 if a rule has failed, 2 if a rule is undecided, and otherwise 0. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  const outcomes = new Set(findings.map(({ outcome }) => outcome))
  return outcomes.has('failed') ? 1 : outcomes.has('undecided') ? 2 : 0
}
