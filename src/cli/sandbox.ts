/**
 * `npm run sandbox`: starts only the sandbox, for use with `npm start`. `--as FILE` makes it answer like a platform whose
 * answers were recorded.
 */
import '../runtime/env-file.ts'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print } from '../runtime/print.ts'
import { openSandbox, sandboxSettings } from '../runtime/run-sandbox.ts'
import { fail, onStopSignal } from '../runtime/serve.ts'
import { type Recorded, readRecorded } from '../sandbox/recorded.ts'

const HELP = `Usage: npm run sandbox -- [--as FILE]

Starts the sandbox, for use with npm start.

  --as FILE   Answers like the platform whose answers were recorded in FILE.`

function recordedOf(file: string): Recorded {
  try {
    return readRecorded(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} ${(error as Error).message}`)
  }
}

try {
  const { values } = parseArgs({ options: { as: { type: 'string' }, help: { type: 'boolean' } } })
  if (values.help) {
    print(...HELP.split('\n'))
    process.exit(0)
  }
  const settings = await sandboxSettings(process.env)
  const sandbox = await openSandbox(settings, values.as === undefined ? undefined : recordedOf(values.as))
  print(...sandbox.summary)
  if (values.as !== undefined)
    print(
      `  It answers as recorded in ${values.as}: tokens, refusals, lists, and records. All else is the sandbox's own.`,
    )
  onStopSignal(() => sandbox.close())
} catch (error) {
  fail(error)
}
