import { configOf, start } from './run-app.ts'
import { fail, onStopSignal } from './serve.ts'

try {
  const app = await start(configOf(process.env))
  onStopSignal(() => app.close())
} catch (error) {
  fail(error)
}
