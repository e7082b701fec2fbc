import type { Logger } from 'pino'
import { createApp } from '../app.ts'
import { ready } from '../connect/stores.ts'
import { createDependencies } from '../dependencies.ts'
import { featureOptions, type NamedFeature } from '../features/load.ts'
import { type Config, proxyProblem, readConfig } from '../settings/config.ts'
import { OPEN_DEMO } from '../web/sign-in/demo-sign-in.ts'
import { OWN_SIGN_IN } from '../web/sign-in/sign-in.ts'
import { withDevelopmentSecrets } from './dev-secrets.ts'
import { createLog } from './log.ts'
import { GRACE_MS, listen } from './serve.ts'

/** Reads the config of the app and its features. In development, generates missing secrets. Throws `ConfigError`. */
export function configOf(env: NodeJS.ProcessEnv, features: readonly NamedFeature[]): Config {
  const hasOwnSignIn = OWN_SIGN_IN !== null
  return readConfig(withDevelopmentSecrets(env), { hasOwnSignIn, ...featureOptions(features) })
}

/**
 * Starts the app, and resolves when it is listening. With the demo sign-in, it accepts only local connections unless
 * `DEMO_ALLOW_REMOTE` is true. Throws a one-line error that names the setting to change.
 */
export async function start(
  config: Config,
  features: readonly NamedFeature[],
  log: Logger = createLog(config.logLevel),
): Promise<{ hasDemoSignIn: boolean; close(): Promise<void> }> {
  const dependencies = await createDependencies(config, log, features)
  const { isDemo } = dependencies.signIn
  // Requests before Redis is connected would fail, so wait for it. After 2 s, the app starts anyway.
  await ready(dependencies.store).catch(() => {})
  const server = await listen(createApp(dependencies), {
    port: config.port,
    host: config.host,
    variable: 'PORT',
    localOnly: isDemo && !config.demoAllowRemote ? [new URL(config.baseUrl).hostname] : undefined,
  })
  if (isDemo && config.demoAllowRemote) log.warn(OPEN_DEMO)
  const problem = proxyProblem(config)
  if (problem) log.warn(`TRUST_PROXY: ${problem}`)
  for (const part of dependencies.parts) part.start?.()
  const { baseUrl: url, host, port } = config
  log.info({ url, host, port, store: dependencies.store.description }, 'listening')
  return {
    hasDemoSignIn: isDemo,
    close() {
      log.info('stopping')
      return dependencies.close({ shutdownDelayMs: config.shutdownDelayMs, graceMs: GRACE_MS, server })
    },
  }
}
