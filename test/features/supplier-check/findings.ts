import { checkSupplier, type Finding } from '../../../src/features/supplier-check/check-supplier.ts'
import type { Clock } from '../../../src/features/supplier-check/exchange.ts'
import type { Subject } from '../../../src/features/supplier-check/rule.ts'

/** A clock that only sleeping turns forward. */
export function fakeClock(): Clock {
  let time = Date.now()
  return {
    now: () => time,
    sleep: async (ms) => {
      time += ms
    },
  }
}

export async function all(subject: Subject): Promise<Finding[]> {
  const findings: Finding[] = []
  for await (const finding of checkSupplier(subject)) findings.push(finding)
  return findings
}

/** The rules with this outcome, each with the reason. */
export const of = (findings: Finding[], outcome: Finding['outcome']) =>
  findings.filter((finding) => finding.outcome === outcome).map(({ rule, reason }) => [rule.id, reason])
export const idsOf = (findings: Finding[], outcome: Finding['outcome']) =>
  of(findings, outcome).map(([id]) => id)
