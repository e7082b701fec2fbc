/**
 * `npm run sandbox`: starts only the sandbox, for use with `npm start`. `--as FILE` makes it answer like a platform whose
 * answers were recorded.
 */
import '../runtime/env-file.ts'
import { readFileSync } from 'node:fs'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { openSandbox, sandboxSettings } from '../runtime/run-sandbox.ts'
import { fail, onStopSignal } from '../runtime/serve.ts'
import { type Recorded, readRecorded } from '../sandbox/recorded.ts'

const command = createCommand('npm run sandbox --', 'Starts the sandbox, for use with npm start.')
  .option('--as <file>', 'answer like the platform whose answers were recorded in the file')
  .parse()

function recordedOf(file: string): Recorded {
  try {
    return readRecorded(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} ${(error as Error).message}`)
  }
}

try {
  const { as: file } = command.opts<{ as?: string }>()
  const settings = await sandboxSettings(process.env)
  const sandbox = await openSandbox(settings, file === undefined ? undefined : recordedOf(file))
  print(...sandbox.summary)
  if (file !== undefined)
    print(
      `  It answers as recorded in ${file}: tokens, refusals, lists, and records. All else is the sandbox's own.`,
    )
  onStopSignal(() => sandbox.close())
} catch (error) {
  fail(error)
}
