/** `npm run feature -- supplier-check run`: tests any implementation of the live pricing API over HTTP. */
import { print, printJson } from '../../../runtime/print.ts'
import { fail } from '../../../runtime/serve.ts'
import { readArguments } from './arguments.cli.ts'
import { checkSupplier, type Finding } from './check-supplier.ts'
import { SupplierClient } from './client.ts'
import { ASSUMPTIONS } from './read.ts'
import { exitCodeOf, jsonOf, linesOf, summaryOf } from './report.ts'

try {
  const { baseUrl, options, known } = readArguments(process.argv)
  const client = new SupplierClient({ baseUrl, ...options })
  const { status, text } = await client.grant()
  if (status === 0) throw new Error(`Nothing can be checked: POST /connect/token returned ${text}.`)
  const { json, verbose } = options
  if (!json)
    print(
      'The specification does not show every name. To read what it does not show, this check assumes:',
      ...ASSUMPTIONS.map((assumption) => `- ${assumption}`),
      'If the check cannot read an answer, the rule is unproven, not wrong.',
      '',
    )
  const findings: Finding[] = []
  for await (const finding of checkSupplier({ client, known })) {
    findings.push(finding)
    if (!json) print(...linesOf(finding, verbose))
  }
  if (json) printJson(findings.map(jsonOf))
  else print('', ...summaryOf(findings))
  process.exitCode = exitCodeOf(findings)
} catch (error) {
  fail(error)
}
