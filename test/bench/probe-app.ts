/** The whole app with the probe of the tests, so that the row stays whichever features are removed. */
import { createApp } from '../../src/app.ts'
import { ready } from '../../src/connect/stores.ts'
import { createDependencies } from '../../src/dependencies.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { createLog } from '../../src/runtime/log.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { probe } from '../support/probe.ts'

const features = await loadFeatures()

const config = configOf(process.env, features)
const dependencies = await createDependencies(config, createLog(config.logLevel), [...features, probe])
await ready(dependencies.store)
createApp(dependencies).listen(config.port)
