import { StoreUnavailableError } from '../connect/errors.ts'
import { ready } from '../connect/stores.ts'
import { createDependencies, type Dependencies } from '../dependencies.ts'
import { loadFeatures } from '../features/load.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'

/** Runs the work of a command with the app's store and vault, and closes them. Prints what fails, and ends the process then. */
export async function withApp(work: (app: Dependencies) => Promise<void>): Promise<void> {
  try {
    const features = await loadFeatures()
    const app = await createDependencies(configOf(process.env, features), createLog('silent'), features)
    try {
      await ready(app.store)
      await work(app)
    } finally {
      await app.close()
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) fail(error)
    fail(`The store is not available (${error.reason}). Check REDIS_URL and DATA_DIR.`)
  }
}
