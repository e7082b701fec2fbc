/** `npm run demo`: the sandbox and the app, wired to each other; no credentials, no `.env`, no Redis. */

import { configOf, start } from './run-app.ts'
import { openSandbox, sandboxSettings } from './run-sandbox.ts'
import { addressesOf } from './sandbox/sandbox.ts'
import { fail, onStopSignal } from './serve.ts'

try {
  const settings = sandboxSettings(process.env)
  const { appUrl, authUrl, apiUrl } = addressesOf(settings.url)
  const config = configOf({
    LOG_LEVEL: 'warn',
    ...process.env,
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    PLATFORM_CLIENT_ID: settings.clientId,
    PLATFORM_CLIENT_SECRET: settings.clientSecret,
    PLATFORM_WEBHOOK_SECRET: settings.webhookSecret,
  })
  const sandbox = await openSandbox(settings)
  const app = await start(config)
  console.log(`
  The app                ${config.baseUrl}
${sandbox.summary}

  Open the app, sign in with any name, and press "Connect an account". Ctrl-C stops both.
`)
  onStopSignal(async () => {
    await app.close()
    await sandbox.close()
  })
} catch (error) {
  fail(error)
}
