import { flushCompileCache } from 'node:module'
import './runtime/env-file.ts'

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
