/** The programs of packages that the commands use: the formatter, knip, npm. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { printError } from '../runtime/print.ts'
import type { Project } from './project.ts'

/** Writes the generated files again, and formats the code. Reports a program that fails. */
export function regenerate({ root }: Project): void {
  const options = { cwd: root, encoding: 'utf8' } as const
  const biome = join(root, 'node_modules/.bin/biome')
  const format = ['check', '--write', '--linter-enabled=false', 'src', 'test', 'package.json']
  report('npm run docs', spawnSync(process.execPath, ['src/cli/docs.ts'], options))
  report('npm run format', spawnSync(biome, format, options))
}

/** Makes the lock file and the installed packages those of package.json. Reports a failure. */
export function install(project: Project): void {
  report('npm install', npm(project, ['install', '--prefer-offline', '--no-audit', '--no-fund']))
}

/** Runs npm in a project: the one that runs this command, if one does. `stdio`: `inherit` shows what it prints. */
export function npm({ root }: Project, args: readonly string[], stdio: 'pipe' | 'inherit' = 'pipe') {
  const file = process.env.npm_execpath
  const options = { cwd: root, encoding: 'utf8', stdio } as const
  return file ? spawnSync(process.execPath, [file, ...args], options) : spawnSync('npm', args, options)
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
    throw new Error(`knip cannot run (${error?.message ?? stderr.trim().split('\n')[0]}): run npm install.`)
  const { issues }: { issues: Record<'files' | 'dependencies' | 'devDependencies', { name: string }[]>[] } =
    JSON.parse(stdout)
  return {
    files: issues.flatMap(({ files }) => files.map(({ name }) => name)),
    packages: issues.flatMap(({ dependencies, devDependencies }) =>
      [...dependencies, ...devDependencies].map(({ name }) => name),
    ),
  }
}
