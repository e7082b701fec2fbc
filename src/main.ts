import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import './runtime/check-node.cjs'
import './runtime/env-file.ts'

// Compiled modules are kept for the next start (npm run bench, row "start of main.ts"), and for threads, which look at the
// variable: it halves the CPU time of checking a small price file. Static imports would be compiled before these lines run.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/connect-starter', import.meta.url),
)
enableCompileCache(process.env.NODE_COMPILE_CACHE)
// feature: tracing
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim()) await import('./features/tracing/start.ts')
// end of feature
const { configOf, start, warnOfUnknownSettings } = await import('./runtime/run-app.ts')
const { fail, onStopSignal } = await import('./runtime/serve.ts')
const { createLog } = await import('./runtime/log.ts')

/** `npm run dev` prints lines for people; otherwise, the log is JSON. */
async function destination() {
  if (!process.argv.includes('--readable-log')) return undefined
  const { readableLog } = await import('./runtime/readable-log.ts')
  return readableLog()
}

try {
  const config = configOf(process.env)
  const log = createLog(config.logLevel, await destination())
  warnOfUnknownSettings(process.env, log)
  const app = await start(config, log)
  const { sandboxUrl } = config.platform
  if (sandboxUrl) log.info({ url: sandboxUrl }, 'the platform is the sandbox; npm run sandbox starts it')
  onStopSignal(() => app.close())
  flushCompileCache()
} catch (error) {
  fail(error)
}
