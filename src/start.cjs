/** The first file of the app. CommonJS, to run on any version of Node: older ones cannot load TypeScript. */
const nodeModule = require('node:module')
const path = require('node:path')

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this app requires 22.19 or later. "npm install" installs one for the npm scripts, or see https://nodejs.org.`,
  )
  process.exit(1)
}

// Compiled modules are kept for the next start (npm run bench, row "start of the app"), and for the
// processes that check price files: it halves the CPU time of a small one. Here, and not in TypeScript: Node loads its compiler of
// TypeScript for the first file that is not in the cache.
if (!process.env.NODE_COMPILE_CACHE)
  process.env.NODE_COMPILE_CACHE = path.join(__dirname, '..', 'node_modules', '.cache', 'connect-starter')
nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE)
import('./main.ts')
