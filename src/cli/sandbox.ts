/** `npm run sandbox`: starts only the sandbox, for use with `npm start`. */
import '../runtime/env-file.ts'
import { openSandbox, sandboxSettings } from '../runtime/run-sandbox.ts'
import { fail, onStopSignal } from '../runtime/serve.ts'

try {
  const settings = sandboxSettings(process.env)
  const sandbox = await openSandbox(settings)
  console.log(sandbox.summary)
  onStopSignal(() => sandbox.close())
} catch (error) {
  fail(error)
}
