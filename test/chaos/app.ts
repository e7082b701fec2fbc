/** A process of `npm run chaos`: the app, with the probe instead of features. */
import { createApp } from '../../src/app.ts'
import { platform } from '../../src/connect/index.ts'
import { createDependencies } from '../../src/dependencies.ts'
import { createLog } from '../../src/runtime/log.ts'
import { configOf } from '../../src/runtime/run-app.ts'
import { fail, GRACE_MS, listen, onStopSignal } from '../../src/runtime/serve.ts'
import { probe } from '../support/probe.ts'

// Half of the grants have refresh tokens that rotate, and must not be sent twice.
Object.assign(platform, { refreshTokens: 'rotated' })

try {
  const config = configOf(process.env, [probe])
  const dependencies = await createDependencies(config, createLog(config.logLevel), [probe])
  const server = await listen(createApp(dependencies), { port: config.port, variable: 'PORT' })
  onStopSignal(() => dependencies.close({ graceMs: GRACE_MS, server }))
} catch (error) {
  fail(error)
}
