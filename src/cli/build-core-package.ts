/** `npm run build-core-package`: packs the core as `connect-core-VERSION.tgz`, for an Express app that you already have. */
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { runNpm, runTool } from './programs.ts'
import { openProject, readManifest } from './project.ts'

const project = openProject()
const manifest = readManifest(project)
const ENTRIES = ['index', 'express', 'stores', 'errors']

/** Compiles the core into a folder with its own tsconfig.json. Throws an error with the compiler's messages. */
function compile(outDir: string): void {
  const { failure } = runTool(project.root, 'tsc', '-p', 'src/connect', '--outDir', outDir)
  if (failure) throw new Error(`The core does not compile on its own:\n${failure}`)
}

/** The packages that the compiled core imports, with the versions of this project. */
function dependenciesOf(dir: string): Record<string, string> {
  const code = globSync('**/*.js', { cwd: dir }).map((file) => readFileSync(join(dir, file), 'utf8'))
  const imported = [...code.join('\n').matchAll(/(?:from |import\()'([^.'][^']*)'/g)].map(([, name]) => name)
  return Object.fromEntries(Object.entries(manifest.dependencies).filter(([name]) => imported.includes(name)))
}

function pack(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${folder} is not a folder.`)
  const { license, engines } = manifest
  // Use the version of the starter, because the product's version does not identify the core.
  const { version } = manifest.starter ?? manifest
  const dir = mkdtempSync(join(tmpdir(), 'connect-core-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  compile(dir)
  const exports = Object.fromEntries(
    ENTRIES.map((name) => [
      name === 'index' ? '.' : `./${name}`,
      { types: `./${name}.d.ts`, default: `./${name}.js` },
    ]),
  )
  const dependencies = dependenciesOf(dir)
  const core = { name: 'connect-core', version, license, type: 'module', engines, exports, dependencies }
  writeFileSync(join(dir, 'package.json'), JSON.stringify(core, null, 2))
  const { failure } = runNpm(dir, 'pack', '--loglevel=error', '--pack-destination', resolve(folder))
  if (failure) throw new Error(`npm pack failed: ${failure}`)
  print(`Wrote connect-core-${version}.tgz. It needs ${Object.keys(dependencies).join(', ')}.`)
}

await createCommand(
  'npm run build-core-package --',
  'Packs the core as an npm package: JavaScript with type declarations.',
)
  .argument('[folder]', 'where to write it (default: this folder)', '.')
  .action(pack)
  .parseAsync()
