/** `npm run sandbox`: starts only the sandbox, for use with `npm start`. */
import '../runtime/env-file.ts'
import { parseArgs } from 'node:util'
import { print } from '../runtime/print.ts'
import { openSandbox, sandboxSettings } from '../runtime/run-sandbox.ts'
import { fail, onStopSignal } from '../runtime/serve.ts'

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean' } } })
  if (values.help) {
    print('Usage: npm run sandbox', '', 'Starts the sandbox, for use with npm start.')
    process.exit(0)
  }
  const sandbox = await openSandbox(await sandboxSettings(process.env))
  print(...sandbox.summary)
  onStopSignal(() => sandbox.close())
} catch (error) {
  fail(error)
}
