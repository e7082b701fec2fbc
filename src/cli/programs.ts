/** The programs of packages that the commands use: the formatter, knip, npm. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { printError } from '../runtime/print.ts'
import type { Project } from './project.ts'

/** Writes the generated files again, formats the code, and writes the lock file for package.json. Reports a program that fails. */
export function regenerate({ root }: Project): void {
  const options = { cwd: root, encoding: 'utf8' } as const
  const biome = join(root, 'node_modules/.bin/biome')
  const format = ['check', '--write', '--linter-enabled=false', 'src', 'test', 'package.json']
  const lock = ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund']
  report('npm run docs', spawnSync(process.execPath, ['src/cli/docs.ts'], options))
  report('npm run format', spawnSync(biome, format, options))
  report('npm install', spawnSync('npm', lock, options))
}

function report(command: string, { status, stderr, error }: SpawnSyncReturns<string>): void {
  if (status === 0) return
  const said = error?.message ?? /^.*\b(?:Error|ERR!|error):? .*$/m.exec(stderr)?.[0]
  printError(`${command} failed (${said?.trim() ?? `exit code ${status}`}): correct that, and run it again.`)
}

/** What nothing uses: files, and packages of package.json. */
export interface Unused {
  files: string[]
  packages: string[]
}

/** Asks knip. Throws if it cannot run. */
export function findUnused({ root }: Project): Unused {
  const args = ['--include', 'files,dependencies', '--reporter', 'json', '--no-exit-code', '--no-progress']
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 50_000_000 } as const
  const { status, stdout, stderr, error } = spawnSync(join(root, 'node_modules/.bin/knip'), args, options)
  if (status !== 0)
    throw new Error(
      `knip cannot run (${error?.message ?? stderr.trim().split('\n')[0]}): run npm install. Nothing was changed.`,
    )
  const { issues }: { issues: Record<'files' | 'dependencies' | 'devDependencies', { name: string }[]>[] } =
    JSON.parse(stdout)
  return {
    files: issues.flatMap(({ files }) => files.map(({ name }) => name)),
    packages: issues.flatMap(({ dependencies, devDependencies }) =>
      [...dependencies, ...devDependencies].map(({ name }) => name),
    ),
  }
}
