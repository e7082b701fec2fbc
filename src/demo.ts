/** `npm run demo`: the sandbox and the app, wired to each other; no credentials, no `.env`, no Redis. */
import { openSandbox, sandboxSettings } from './demo-sandbox.ts'
import { fail, onStopSignal } from './serve.ts'
import { configOf, start } from './start.ts'

try {
  const settings = sandboxSettings(process.env)
  const sandbox = await openSandbox(settings)
  const config = configOf({
    LOG_LEVEL: 'warn',
    ...process.env,
    PLATFORM_APP_URL: sandbox.addresses.appUrl,
    PLATFORM_AUTH_URL: sandbox.addresses.authUrl,
    PLATFORM_API_URL: sandbox.addresses.apiUrl,
    PLATFORM_CLIENT_ID: settings.clientId,
    PLATFORM_CLIENT_SECRET: settings.clientSecret,
  })
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
