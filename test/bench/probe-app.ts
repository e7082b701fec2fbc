/** The whole app with the probe of the tests, so that the row stays whichever features are removed. */
import { createApp } from '../../src/app.ts'
import { ready } from '../../src/connect/stores.ts'
import { createDependencies } from '../../src/dependencies.ts'
import { features } from '../../src/features/index.ts'
import { createLog } from '../../src/runtime/log.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { probe } from '../support/probe.ts'

const config = configOf(process.env)
const dependencies = await createDependencies(config, createLog(config.logLevel), [...features, probe])
await ready(dependencies.store)
createApp(dependencies).listen(config.port)
