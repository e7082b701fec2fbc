import { StoreUnavailableError } from '../connect/errors.ts'
import { ready } from '../connect/stores.ts'
import { createDependencies, type Dependencies } from '../dependencies.ts'
import { loadFeatures } from '../features/load.ts'
import { isForDemo, useDemoData } from '../runtime/load-env-file.ts'
import { createLog } from '../runtime/log.ts'
import { printError } from '../runtime/print.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'

/** The settings of the app. If no platform is set, these are the settings of `npm run demo`, which may be running. */
async function settingsOfApp(): Promise<NodeJS.ProcessEnv> {
  if (!isForDemo(process.env)) return process.env
  printError('No platform is set: this is the data of npm run demo.')
  useDemoData()
  const { demoEnv, sandboxSettings } = await import('../runtime/run-sandbox.ts')
  return demoEnv(process.env, await sandboxSettings(process.env))
}

/** Runs a command's work with the app's store and vault, and closes them. If it fails, prints the error and ends the process. */
export async function withApp(work: (app: Dependencies) => Promise<void>): Promise<void> {
  try {
    const features = await loadFeatures()
    const app = await createDependencies(
      configOf(await settingsOfApp(), features),
      createLog('silent'),
      features,
    )
    try {
      await ready(app.store)
      await work(app)
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      const { description } = app.store
      const cure = app.config.redisUrls.length > 0 ? 'Start it, or correct REDIS_URL.' : 'Check DATA_DIR.'
      throw new Error(`${description} is not available (${error.reason}). ${cure}`)
    } finally {
      await app.close()
    }
  } catch (error) {
    fail(error)
  }
}
