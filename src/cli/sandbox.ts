/** `npm run sandbox`: starts only the sandbox, for use with `npm start`. */
import '../runtime/env-file.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { openSandbox, sandboxSettings } from '../runtime/run-sandbox.ts'
import { onStopSignal } from '../runtime/serve.ts'

await createCommand('npm run sandbox --', 'Starts the sandbox, for use with npm start.')
  .action(async () => {
    const sandbox = await openSandbox(await sandboxSettings(process.env))
    print(...sandbox.summary)
    onStopSignal(() => sandbox.close())
  })
  .parseAsync()
