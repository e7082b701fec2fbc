// CommonJS, to run on any version of Node: older ones cannot load TypeScript.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `Node ${process.versions.node} is too old: this app requires 22.19 or later. "npm install" installs one for the npm scripts, or see https://nodejs.org.`,
  )
  process.exit(1)
}
