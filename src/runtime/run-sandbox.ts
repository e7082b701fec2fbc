import { join } from 'node:path'
import { redirectUrls } from '../connect/index.ts'
import { ACCOUNTS } from '../sandbox/accounts.ts'
import { loadSandboxFeatures, type NamedSandboxFeature } from '../sandbox/load.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import { sandboxAddressSettings, serverSettings } from '../settings/config.ts'
import { browserUrl, localUrl } from '../settings/fields.ts'
import { givenOf, readSettings } from '../settings/read.ts'
import { texts } from '../web/texts.ts'
import { sandboxEnv } from './load-env-file.ts'
import { listen } from './serve.ts'

export type SandboxSettings = Awaited<ReturnType<typeof sandboxSettings>>

/** Reads the sandbox's settings, which all have defaults. Throws an error that names an invalid setting. */
export async function sandboxSettings(env: NodeJS.ProcessEnv) {
  const simulated = await loadSandboxFeatures()
  const given = givenOf(env)
  const settings = readSettings(given, () =>
    sandboxAddressSettings(given).extend(serverSettings(given).shape),
  )
  const { sandboxPort: port, sandboxUrl: url = browserUrl(given, port), baseUrl: appUrl } = settings
  // The address at which the sandbox calls the app. The address of a Codespace is only for browsers.
  const calledAt = given.BASE_URL ? appUrl : localUrl(given, settings.port)
  const defaults: Record<string, string> = Object.assign({}, ...simulated.map(({ demoEnv }) => demoEnv))
  const shared = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, given[name] ?? value]),
  )
  const optionsOf = ({ appOptions, demoOptions }: NamedSandboxFeature) => ({
    ...appOptions?.({ ...given, ...shared }, calledAt),
    ...demoOptions?.(),
  })
  return {
    port,
    host: settings.host,
    allowRemote: settings.demoAllowRemote,
    /** The sandbox's public URL, for browsers. */
    url,
    /** The URL and credentials of the app that is registered with the sandbox. */
    appUrl,
    clientId: given.PLATFORM_CLIENT_ID ?? 'sandbox-client',
    clientSecret: given.PLATFORM_CLIENT_SECRET ?? 'sandbox-client-secret',
    /** Environment variables that the app and the sandbox's features must share. */
    shared,
    simulated,
    /** Options of the sandbox's features, by name. */
    features: Object.fromEntries(simulated.map((feature) => [feature.name, optionsOf(feature)])),
    dataDir: given.DATA_DIR ?? '.data',
  }
}

/** The environment of the app that uses this sandbox, in `npm run demo`. */
export const demoEnv = (env: NodeJS.ProcessEnv, { clientId, clientSecret, shared }: SandboxSettings) => ({
  ...env,
  ...sandboxEnv(env),
  PLATFORM_CLIENT_ID: clientId,
  PLATFORM_CLIENT_SECRET: clientSecret,
  ...shared,
})

/** Starts the sandbox. `summary` lists its URL and accounts. */
export async function openSandbox(settings: SandboxSettings) {
  const { port, host, url, appUrl, clientId, clientSecret, simulated, features, dataDir } = settings
  const sandbox = createSandbox({
    baseUrl: url,
    openToAll: settings.allowRemote,
    apps: [
      {
        name: texts.layout.appName,
        logo: '/assets/app.svg',
        clientId,
        clientSecret,
        redirectUrls: [...redirectUrls(appUrl)],
      },
    ],
    // The number is the version of the schema. Files of other versions stay unchanged.
    file: join(dataDir, 'sandbox-3.sqlite'),
    simulated,
    features,
  })
  const server = await listen(sandbox.app, {
    port,
    host,
    variable: 'SANDBOX_PORT',
    localOnly: settings.allowRemote ? undefined : [new URL(url).hostname],
  })
  const accounts = ACCOUNTS.map(
    ({ email, password, businesses }) =>
      `    ${email.padEnd(24)} password ${password}   ${businesses.map(({ name }) => name).join(', ')}`,
  )
  return {
    summary: [`  The sandbox platform   ${url}`, ...accounts],
    async close() {
      await server.stop(0)
      sandbox.close()
    },
  }
}
