/** Prints which of some packages are loaded after the app was created without settings for metrics and traces. */
import { registerHooks } from 'node:module'

const loaded = new Set<string>()
const WATCHED = /node_modules\/(express|prom-client|@opentelemetry)\//
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = WATCHED.exec(url) ?? []
    if (name) loaded.add(name)
    return nextLoad(url, context)
  },
})
const { configOf } = await import('../../../src/runtime/run-app.ts')
const { createDependencies } = await import('../../../src/dependencies.ts')
const { createListener } = await import('../../../src/app.ts')
const { features } = await import('../../../src/features/index.ts')
const { createLog } = await import('../../../src/runtime/log.ts')
const url = 'http://127.0.0.1:9'
const platform = { PLATFORM_APP_URL: url, PLATFORM_AUTH_URL: url, PLATFORM_API_URL: url }
const client = { PLATFORM_CLIENT_ID: 'x', PLATFORM_CLIENT_SECRET: 'x' }
const config = configOf({ ...process.env, ...platform, ...client })
const dependencies = await createDependencies(config, createLog('silent'), features)
createListener(dependencies)
await dependencies.close()
console.log(`loaded: ${[...loaded].join(' ')}`)
