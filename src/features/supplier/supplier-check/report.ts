import type { Finding } from './check-supplier.ts'

const MARKS = { proven: 'proven  ', wrong: 'WRONG   ', unproven: 'unproven' } as const

/** A finding as lines of text. The call is shown if the rule is wrong, or if that is asked for. */
export function linesOf({ id, rule, outcome, reason, call }: Finding, withCall: boolean): string[] {
  const [section, sentence] = rule.given
  const head = `${MARKS[outcome]}  ${id.padEnd(24)}  ${sentence} (§${section})`
  const why = reason === undefined ? [] : [asSentence(reason)]
  const isShown = call && (outcome === 'wrong' || withCall)
  const sent = isShown ? cut(call.request, MAX_REQUEST).split('\n') : []
  const answer = isShown ? `${call.status || ''} ${cut(call.answer, MAX_ANSWER)}`.split('\n') : []
  const details = [...why, ...sent.map((line) => `> ${line}`), ...answer.map((line) => `< ${line}`)]
  return [head, ...details.map((line) => `          ${line}`)]
}

/** The longest request and answer that are shown, in characters. */
const [MAX_REQUEST, MAX_ANSWER] = [600, 1_000]

const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max)} ...` : text)
const asSentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`

/** The outcome of the check as lines: how many rules, and the names of those that are not proven. */
export function summaryOf(findings: readonly Finding[]): string[] {
  const idsOf = (outcome: Finding['outcome']) =>
    findings.filter((finding) => finding.outcome === outcome).map(({ id }) => id)
  const [proven, wrong, unproven] = [idsOf('proven'), idsOf('wrong'), idsOf('unproven')]
  return [
    `${findings.length} rules: ${proven.length} proven, ${wrong.length} wrong, ${unproven.length} unproven.`,
    ...(wrong.length > 0 ? [`Wrong: ${wrong.join(', ')}.`] : []),
    ...(unproven.length > 0 ? [`Unproven: ${unproven.join(', ')}.`] : []),
  ]
}

/** A finding as JSON. */
export const jsonOf = ({ id, rule, outcome, reason, call }: Finding) => ({
  rule: id,
  section: rule.given[0],
  requirement: rule.given[1],
  outcome,
  reason,
  ...call,
})

/** 0 if every rule is proven, 1 if one is wrong, and 2 if none is wrong and one is unproven. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  const outcomes = new Set(findings.map(({ outcome }) => outcome))
  return outcomes.has('wrong') ? 1 : outcomes.has('unproven') ? 2 : 0
}
