/** Starts the feature without settings, and prints which of some packages that has loaded. */
import { registerHooks } from 'node:module'

const loaded = new Set<string>()
const WATCHED = /node_modules\/(express|prom-client)\//
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = WATCHED.exec(url) ?? []
    if (name) loaded.add(name)
    return nextLoad(url, context)
  },
})
const { default: metrics } = await import('../../../src/features/metrics/index.ts')
metrics.create({} as Parameters<typeof metrics.create>[0], null)
console.log(`loaded: ${[...loaded].join(' ')}`)
