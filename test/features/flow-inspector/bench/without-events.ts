/** Preloaded into the yardstick of the bench: API calls as they were before the core published events. */
import { registerHooks } from 'node:module'

const PUBLISHING =
  /apiCallChannel\.hasSubscribers\s*\? await sendAndPublish\(client\.platform, pool, request, source\)\s*: await pool\.send\(request\)/

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/src/connect/platform/api.ts')) return loaded
    const source = String(loaded.source)
    if (!PUBLISHING.test(source)) throw new Error('api.ts publishes in another way: correct this hook')
    return { ...loaded, source: source.replace(PUBLISHING, 'await pool.send(request)') }
  },
})
