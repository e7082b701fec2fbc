import { featureOptions, loadFeatures } from './features/load.ts'
import { namesInEnvFile } from './runtime/env-file.ts'
import { createLog } from './runtime/log.ts'
import { configOf, start } from './runtime/run-app.ts'
import { fail, onStopSignal } from './runtime/serve.ts'
import { unknownSettings } from './settings/config.ts'

/** `npm run dev` prints a human-readable log. Otherwise, the log is JSON. */
async function destination() {
  if (!process.argv.includes('--readable-log')) return undefined
  const { readableLog } = await import('./runtime/readable-log.ts')
  return readableLog()
}

let app: Awaited<ReturnType<typeof start>> | undefined
// Before the start, because the first process of a container ignores signals without a handler.
onStopSignal(async () => app?.close())
try {
  const features = await loadFeatures()
  const config = configOf(process.env, features)
  const log = createLog(config.logLevel, await destination())
  for (const name of unknownSettings(process.env, featureOptions(features).features, namesInEnvFile))
    log.warn({ name }, 'there is no setting of this name; .env.example lists them all')
  app = await start(config, features, log)
  const { sandboxUrl } = config.platform
  if (sandboxUrl) log.info({ url: sandboxUrl }, 'the platform is the sandbox; npm run sandbox starts it')
} catch (error) {
  fail(error)
}
