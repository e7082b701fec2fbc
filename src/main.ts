import './runtime/check-node.cjs'
import './runtime/env-file.ts'
import { configOf, start } from './runtime/run-app.ts'
import { fail, onStopSignal } from './runtime/serve.ts'

try {
  const app = await start(configOf(process.env))
  onStopSignal(() => app.close())
} catch (error) {
  fail(error)
}
