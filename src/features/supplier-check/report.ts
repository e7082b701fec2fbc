import { type Finding, isBroken } from './check-supplier.ts'
import type { Rule } from './rule.ts'

/** What a report is about. It holds no secrets: findings have none, and the address has neither credentials nor a query. */
export interface Report {
  /** The address that was checked. */
  baseUrl: string
  findings: readonly Finding[]
  /** Whether only rules that the specification gives count. */
  givenOnly: boolean
}

/** The basis of a rule, such as `given, §4.1` or `assumed`. */
export const basisOf = ({ given }: Rule) => (given === undefined ? 'assumed' : `given, ${given}`)

/** What a finding means: a broken rule that does not count is a warning. */
export function resultOf(finding: Finding, givenOnly: boolean): 'pass' | 'fail' | 'warning' | 'not checked' {
  if (finding.outcome === 'unchecked') return 'not checked'
  if (finding.outcome === 'pass') return 'pass'
  return isBroken(finding, givenOnly) ? 'fail' : 'warning'
}

/** The numbers of rules, as a sentence. */
export function summaryOf({ findings, givenOnly }: Omit<Report, 'baseUrl'>): string {
  const count = (result: string) =>
    findings.filter((finding) => resultOf(finding, givenOnly) === result).length
  const warnings = givenOnly ? `, ${count('warning')} assumed rules broken` : ''
  return `${count('pass')} rules passed, ${count('fail')} failed${warnings}, ${count('not checked')} could not be checked.`
}

/** The call of a finding as text: the request, and the answer below it. */
export function callOf({ call }: Finding): string {
  if (!call) return ''
  const { request, status, answer } = call
  return `> ${request.replaceAll('\n', '\n> ')}\n< ${status || ''} ${answer.replaceAll('\n', '\n< ')}`
}

/** Characters that are not allowed in XML 1.0, and those that control a terminal. */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Cs}\ufffe\uffff]/gu

/** Replaces control characters and halves of surrogate pairs, so that a text can be printed or put into a document. */
const printable = (text: string) => text.replace(CONTROL, '\ufffd')

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes a text for HTML and XML, in elements and in attributes. */
export const escapeText = (text: string) =>
  printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
