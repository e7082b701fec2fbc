import type { Finding } from './check-supplier.ts'
import { basisOf, callOf, escapeText, type Report, resultOf } from './report.ts'

/**
 * The findings as JUnit XML: a test case for each rule. A broken rule is a failure. A rule that was not checked, or that
 * is broken but does not count, is skipped.
 */
export function junitReport({ baseUrl, findings, givenOnly }: Report): string {
  const results = findings.map((finding) => resultOf(finding, givenOnly))
  const failures = results.filter((result) => result === 'fail').length
  const skipped = results.filter((result) => result === 'not checked' || result === 'warning').length
  const counts = `tests="${findings.length}" failures="${failures}" errors="0" skipped="${skipped}"`
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="check-supplier" ${counts}>
<testsuite name="${escapeText(baseUrl)}" ${counts}>
${findings.map((finding) => caseOf(finding, givenOnly)).join('\n')}
</testsuite>
</testsuites>
`
}

function caseOf(finding: Finding, givenOnly: boolean): string {
  const { rule, reason = '' } = finding
  const name = escapeText(`${rule.id}: ${rule.title} (${basisOf(rule)})`)
  const group = escapeText(`check-supplier.${rule.id.replace(/\..*/, '')}`)
  return `<testcase classname="${group}" name="${name}">${contentOf(resultOf(finding, givenOnly), reason, callOf(finding))}</testcase>`
}

function contentOf(result: ReturnType<typeof resultOf>, reason: string, call: string): string {
  const message = escapeText(oneLine(reason))
  switch (result) {
    case 'fail':
      return `<failure message="${message}">${escapeText(call)}</failure>`
    case 'warning':
      return `<skipped message="Broken, but assumed: ${message}"/>`
    case 'not checked':
      return `<skipped message="Not checked: ${message}"/>`
    case 'pass':
      return ''
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
