import { createRequire, enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// What is loaded is kept compiled for the next start, which then takes two thirds of the time. Hence `import()`: what an
// `import` names is compiled before this runs.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/connect-starter', import.meta.url)))
createRequire(import.meta.url)('./runtime/check-node.cjs')
await import('./runtime/env-file.ts')
const { configOf, start } = await import('./runtime/run-app.ts')
const { fail, onStopSignal } = await import('./runtime/serve.ts')

try {
  const app = await start(configOf(process.env))
  onStopSignal(() => app.close())
  flushCompileCache()
} catch (error) {
  fail(error)
}
