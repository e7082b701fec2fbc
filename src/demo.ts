/**
 * `npm run demo`: the sandbox and the app, configured for each other. It needs no credentials, no `.env` and no Redis. If an `.env`
 * for the sandbox exists, the demo uses its settings. It keeps its data in `.demo`, separate from the app's data.
 */

import { loadFeatures } from './features/load.ts'
import { loadEnvFile } from './runtime/load-env-file.ts'
import { createLog } from './runtime/log.ts'
import { print } from './runtime/print.ts'
import { readableLog } from './runtime/readable-log.ts'
import { configOf, start } from './runtime/run-app.ts'
import { demoEnv, openSandbox, sandboxSettings } from './runtime/run-sandbox.ts'
import { fail, onStopSignal } from './runtime/serve.ts'

try {
  loadEnvFile({ demo: true })
  const settings = await sandboxSettings(process.env)
  const features = await loadFeatures()
  const config = configOf({ LOG_LEVEL: 'info', ...demoEnv(process.env, settings) }, features)
  const sandbox = await openSandbox(settings)
  const app = await start(config, features, createLog(config.logLevel, readableLog()))
  print(
    '',
    `  The app                ${config.baseUrl}`,
    ...sandbox.summary,
    '',
    `  Open the app, sign in${app.hasDemoSignIn ? ' with any name' : ''}, and press "Connect a business". Ctrl-C stops both.`,
    "  The app's log follows: each line ends with the request id that error pages show.",
    '',
  )
  onStopSignal(async () => {
    await app.close()
    await sandbox.close()
  })
} catch (error) {
  fail(error)
}
