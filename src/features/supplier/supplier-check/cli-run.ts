/** `npm run feature -- supplier-check run FILE`: a smoke test of any implementation of the live pricing API, over HTTP. */
import { createCommand } from '../../../runtime/command.ts'
import { print } from '../../../runtime/print.ts'
import { fail } from '../../../runtime/serve.ts'
import { checkSupplier, exitCodeOf, type Finding, linesOf } from './check-supplier.ts'
import { readSupplierFile } from './supplier-file.ts'

const PURPOSE =
  'A smoke test of any implementation of the live pricing API. Exits with 0 if no rule fails, with 1 if a rule fails, and with 2 if a rule can’t be decided.'

try {
  const command = createCommand('npm run feature -- supplier-check run', PURPOSE)
    .argument('<file>', 'the supplier and its true prices in JSON, as in docs/supplier/supplier-check.md')
    .parse(process.argv)
  const findings: Finding[] = []
  for await (const finding of checkSupplier(await readSupplierFile(String(command.processedArgs[0])))) {
    findings.push(finding)
    print(...linesOf(finding))
  }
  process.exitCode = exitCodeOf(findings)
} catch (error) {
  fail(error)
}
