/**
 * Starts the programs of this project: `node src/run.cjs src/demo.ts [ARGS…]`. Without a program, it only checks the version of
 * Node. It is CommonJS, so that it runs on any version, because older versions cannot load TypeScript.
 */
try {
  require.resolve('zod')
} catch ({ code }) {
  console.error(
    code === 'ERR_INVALID_PACKAGE_CONFIG'
      ? 'package.json is not JSON. If an update was interrupted, undo it: git add -A && git reset -q --hard && git switch -q -'
      : 'The packages of this project are not installed. Run npm install, which also brings the Node for npm scripts.',
  )
  process.exit(1)
}

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this project requires 22.19 or later. Install one of your own (https://nodejs.org), or use that of "npm install", which only npm scripts find. With --omit=dev, it is not there; after --ignore-scripts, "npm rebuild node --ignore-scripts=false" adds it.`,
  )
  process.exit(1)
}

const { enableCompileCache } = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

// Keeps compiled modules for the next start (npm run bench, row "start of the app"). `NODE_COMPILE_CACHE` sets another folder.
enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'connect'))

// Node 22 warns about its SQLite, and cron would email the warning. The option --disable-warning would end older versions of Node
// before this file can print the requirement.
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning(warning, ...rest)
}

const [, , program] = process.argv
if (program) {
  // The program reads its arguments as if Node had started it.
  process.argv.splice(1, 2, path.resolve(program))
  import(pathToFileURL(process.argv[1]))
} else {
  console.log(`Node ${process.versions.node} is new enough. To start the app: node src/run.cjs src/main.ts`)
}
