/** `npm run demo`: the sandbox and the app, configured for each other. It needs no credentials, no `.env` and no Redis. */

import pretty from 'pino-pretty'
import { features } from './features/index.ts'
import { createLog } from './runtime/log.ts'
import { configOf, start } from './runtime/run-app.ts'
import { openSandbox, sandboxSettings } from './runtime/run-sandbox.ts'
import { fail, onStopSignal } from './runtime/serve.ts'
import { addressesOf } from './sandbox/platform.ts'

/** The log as lines for people: the time, what happened, and the fields that matter. */
const readable = () =>
  pretty({
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId,method,route,status,ms',
    singleLine: true,
    messageFormat: '{msg}{if route} {method} {route} {status} {ms} ms{end}{if requestId} · {requestId}{end}',
  })

try {
  const settings = sandboxSettings(process.env)
  const { appUrl, authUrl, apiUrl } = addressesOf(settings.url)
  const config = configOf({
    LOG_LEVEL: 'info',
    ...process.env,
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    PLATFORM_CLIENT_ID: settings.clientId,
    PLATFORM_CLIENT_SECRET: settings.clientSecret,
    SANDBOX_URL: settings.url,
    ...settings.shared,
  })
  for (const { prepareDemo } of features) await prepareDemo?.(config.dataDir)
  const sandbox = await openSandbox(settings)
  const app = await start(config, createLog(config.logLevel, readable()))
  console.log(`
  The app                ${config.baseUrl}
${sandbox.summary}

  Open the app, sign in with any name, and press "Connect an account". Ctrl-C stops both.
  The app's log follows: each line ends with the request id that error pages show.
`)
  onStopSignal(async () => {
    await app.close()
    await sandbox.close()
  })
} catch (error) {
  fail(error)
}
