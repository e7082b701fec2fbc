// Runs on any Node: an older one cannot even load a TypeScript file.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this app needs 22.19 or newer. "npm install" brings one for the npm scripts; others are at https://nodejs.org.`,
  )
  process.exit(1)
}
