import type { Finding } from './check-supplier.ts'
import { basisOf, callOf, escapeText, type Report, resultOf, summaryOf } from './report.ts'

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ccc; padding: .4rem .6rem; text-align: left; vertical-align: top; }
pre { overflow-wrap: anywhere; white-space: pre-wrap; }
.fail { color: #b00020; font-weight: bold; }
.warning { color: #8a5a00; font-weight: bold; }
.pass { color: #176b2c; }
.not-checked { color: #555; }`

/** The findings as a page of HTML, which is well-formed XML too and loads nothing. */
export function htmlReport(report: Report): string {
  const { baseUrl, findings, givenOnly } = report
  const rows = findings.map((finding) => rowOf(finding, givenOnly)).join('\n')
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>Check of ${escapeText(baseUrl)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Check of a supplier</h1>
<p>Address: <code>${escapeText(baseUrl)}</code></p>
<p>${escapeText(summaryOf(report))}${givenOnly ? ' Only rules that the specification gives count.' : ''}</p>
<table>
<thead><tr><th scope="col">Result</th><th scope="col">Rule</th><th scope="col">Basis</th><th scope="col">Finding</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
</body>
</html>
`
}

function rowOf(finding: Finding, givenOnly: boolean): string {
  const { rule, reason = '' } = finding
  const result = resultOf(finding, givenOnly)
  const call = callOf(finding)
  const details = call && `<details><summary>Call</summary><pre>${escapeText(call)}</pre></details>`
  return (
    `<tr><td class="${result.replace(' ', '-')}">${result}</td>` +
    `<td><code>${escapeText(rule.id)}</code><br/>${escapeText(rule.title)}</td>` +
    `<td>${escapeText(basisOf(rule))}</td><td>${escapeText(reason)}${details}</td></tr>`
  )
}
