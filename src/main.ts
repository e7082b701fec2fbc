import { fail, onStopSignal } from './serve.ts'
import { configOf, start } from './start.ts'

try {
  const app = await start(configOf(process.env))
  onStopSignal(() => app.close())
} catch (error) {
  fail(error)
}
