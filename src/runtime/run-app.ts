import type { Logger } from 'pino'
import { createApp } from '../app.ts'
import { type Config, type ReadOptions, readConfig } from '../config.ts'
import { createServices, type Services } from '../services.ts'
import { DEMO, OPEN_DEMO } from '../web/sign-in.ts'
import { protectDataDir } from './data-dir.ts'
import { developmentSecrets } from './dev-secrets.ts'
import { createLog } from './log.ts'
import { GRACE_MS, listen } from './serve.ts'

/** The config of this environment; outside production, missing secrets are made and kept. Throws `ConfigError`. */
export function configOf(env: NodeJS.ProcessEnv, options: Partial<ReadOptions> = {}): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()))
  const development = ['development', 'test'].includes(given.NODE_ENV?.trim() ?? 'development')
  const complete = given.SESSION_SECRET && given.TOKEN_KEYS
  const secrets = development && !complete ? developmentSecrets(given.DATA_DIR?.trim() ?? '.data') : {}
  return readConfig({ ...secrets, ...given }, { demoSignIn: DEMO, ...options })
}

/**
 * Starts the app; resolves when it listens. The demo's sign-in is for this machine only, unless the settings open it.
 * Throws an error of one line that names the setting.
 */
export async function start(
  config: Config,
  log: Logger = createLog(config.logLevel),
): Promise<{ close(): Promise<void> }> {
  protectDataDir(config.dataDir)
  const services = await createServices(config, log)
  const server = await listen(createApp(services), {
    port: config.port,
    host: config.host,
    variable: 'PORT',
    localOnly: DEMO && !config.demoAllowRemote ? [new URL(config.baseUrl).hostname] : undefined,
  })
  if (DEMO && config.demoAllowRemote) log.warn(OPEN_DEMO)
  resumeImports(services)
  log.info({ url: config.baseUrl, store: services.store.description }, 'listening')
  return {
    async close() {
      const ends = performance.now() + GRACE_MS
      services.stop()
      await server.stop(GRACE_MS)
      await services.close(Math.max(0, ends - performance.now()))
    },
  }
}

/** The leases of a killed process have expired by now, in ms. */
const LEASES_OVER_MS = 12_000

/** Goes on with the imports that an earlier process left: those of a clean stop at once, those of a kill a little later. */
function resumeImports({ imports, store, stopping, log }: Services): void {
  const resume = async () => {
    try {
      await store.ping()
      await imports.resume()
    } catch (error) {
      if (stopping.aborted) return
      log.warn({ code: (error as { code?: unknown }).code }, 'imports could not be resumed yet')
      setTimeout(resume, 5_000).unref()
    }
  }
  void resume()
  setTimeout(resume, LEASES_OVER_MS).unref()
}
