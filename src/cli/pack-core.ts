/** `npm run pack-core`: packs the core, for an Express app that you have, as `connect-core-VERSION.tgz`. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ENTRIES = ['index', 'express', 'stores', 'errors']

const command = createCommand(
  'npm run pack-core --',
  'Packs the core as a package for npm, in JavaScript with declarations.',
)
  .argument('[folder]', 'where to write it (default: this folder)', '.')
  .parse()

/** Compiles the core into a folder. Throws what the compiler says. */
function compile(outDir: string): void {
  // Below this folder, so that the compiler finds the types of the packages.
  const cache = join(root, 'node_modules/.cache')
  const file = join(cache, `core-${process.pid}.json`)
  const compilerOptions = {
    noEmit: false,
    incremental: false,
    outDir,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(root, 'src/connect'),
  }
  const files = ENTRIES.map((entry) => join(root, `src/connect/${entry}.ts`))
  mkdirSync(cache, { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }),
  )
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', file], {
    cwd: root,
    encoding: 'utf8',
  })
  rmSync(file)
  if (status !== 0) throw new Error(`The core does not compile by itself:\n${stdout}`)
}

/** The packages that the compiled core imports, with the versions of this project. */
function dependenciesOf(dir: string): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const code = globSync('**/*.js', { cwd: dir }).map((file) => readFileSync(join(dir, file), 'utf8'))
  const imported = code.flatMap((text) =>
    [...text.matchAll(/(?:from |import\()'([^.'][^']*)'/g)].map(([, name = '']) => name),
  )
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => imported.includes(name)))
}

function pack(folder: string): void {
  const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const dir = mkdtempSync(join(tmpdir(), 'connect-core-'))
  try {
    compile(dir)
    const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })
    const exports = Object.fromEntries(
      ENTRIES.map((name) => [name === 'index' ? '.' : `./${name}`, entry(name)]),
    )
    const dependencies = dependenciesOf(dir)
    const manifest = {
      name: 'connect-core',
      version,
      license,
      type: 'module',
      engines,
      exports,
      dependencies,
    }
    writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest, null, 2))
    const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', resolve(folder)], {
      cwd: dir,
      encoding: 'utf8',
    })
    if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`)
    print(`Wrote connect-core-${version}.tgz. It needs ${Object.keys(dependencies).join(', ')}.`)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

try {
  pack(command.args[0] ?? '.')
} catch (error) {
  fail(error)
}
