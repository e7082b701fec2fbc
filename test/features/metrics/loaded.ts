/** With `--import`: prints at the end which of some packages a program has loaded. */
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
process.on('exit', () => console.log(`loaded: ${[...loaded].join(' ')}`))
