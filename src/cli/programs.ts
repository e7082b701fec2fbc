/** Runs the programs that the commands use: the formatter, knip, the compiler, npm. For git, see repository.ts. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { printError } from '../runtime/print.ts'
import type { Project } from './project.ts'

/** Runs a program in a folder, with `env` added to its environment. Returns its output, and why it failed or could not be started. */
export function run(cwd: string, program: string, args: readonly string[], { env = {}, shell = false } = {}) {
  const options = { cwd, shell, encoding: 'utf8', maxBuffer: 200_000_000 } as const
  const ended = spawnSync(program, args, { ...options, env: { ...process.env, ...env } })
  const { status, stdout, stderr, error } = ended
  if (status === 0) return { stdout, failure: undefined }
  return { stdout, failure: error?.message || stderr.trim() || stdout.trim() || `exit code ${status}` }
}

/** The packages of tools whose name differs from the package's name. */
const PACKAGES: Record<string, string> = { biome: '@biomejs/biome', tsc: 'typescript' }

/** Finds the file of a tool. Its package may be linked, or in a parent folder, as in a workspace. Throws if it is not installed. */
export function fileOf(root: string, tool: string): string {
  const name = PACKAGES[tool] ?? tool
  try {
    const manifest = findPackageJSON(name, join(root, 'package.json')) ?? ''
    return join(manifest, '..', JSON.parse(readFileSync(manifest, 'utf8')).bin[tool])
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}. Run npm install.`)
  }
}

/** Runs a tool in the folder of a project. */
export const runTool = (root: string, tool: string, ...args: string[]) =>
  run(root, process.execPath, [fileOf(root, tool), ...args])

/** How to start npm: the npm that started this command, or else the npm on the PATH, which needs a shell on Windows. */
function npmOf(args: readonly string[]) {
  const { npm_execpath: npm = '' } = process.env
  if (npm.endsWith('npm-cli.js')) return { program: process.execPath, args: [npm, ...args], shell: false }
  if (process.platform !== 'win32') return { program: 'npm', args, shell: false }
  return { program: ['npm', ...args.map((arg) => `"${arg}"`)].join(' '), args: [], shell: true }
}

export function runNpm(cwd: string, ...words: string[]) {
  const { program, args, shell } = npmOf(words)
  return run(cwd, program, args, { shell })
}

/** Runs `npm run check` in a project, and shows its output. Returns its exit code. Throws if it cannot be started. */
export function check({ root }: Project): number {
  const { program, args, shell } = npmOf(['run', 'check'])
  const { status, error } = spawnSync(program, args, { cwd: root, shell, stdio: 'inherit' })
  if (error) throw error
  return status ?? 1
}

/** Writes the generated files again, and formats the code. Reports a program that fails. */
export function regenerate({ root }: Project): void {
  const format = ['check', '--write', '--linter-enabled=false', 'src', 'test', 'package.json']
  report('npm run docs', run(root, process.execPath, ['src/cli/docs.ts']))
  report('npm run format', runTool(root, 'biome', ...format))
}

/** Updates the lock file and the installed packages to match package.json. Reports a failure. */
export function install({ root }: Project): void {
  report('npm install', runNpm(root, 'install', '--prefer-offline', '--no-audit', '--no-fund'))
}

/** Prints the failure of a command, if it failed. */
export function report(command: string, { failure }: { failure: string | undefined }): void {
  if (failure) printError(...`${command} failed: ${failure}\nCorrect that, and run it again.`.split('\n'))
}

/** Unused files, and unused packages of package.json. */
export interface Unused {
  files: string[]
  packages: string[]
}

/** Finds unused files and packages with knip. Throws if knip cannot run. */
export function findUnused({ root }: Project): Unused {
  const what = ['--include', 'files,dependencies', '--cache']
  const args = [...what, '--reporter', 'json', '--no-exit-code', '--no-progress']
  const { failure, stdout } = runTool(root, 'knip', ...args)
  if (failure) throw new Error(`knip failed: ${failure}\nNothing was changed.`)
  const { issues }: { issues: Record<'files' | 'dependencies' | 'devDependencies', { name: string }[]>[] } =
    JSON.parse(stdout)
  return {
    files: issues.flatMap(({ files }) => files.map(({ name }) => name)),
    packages: issues.flatMap(({ dependencies, devDependencies }) =>
      [...dependencies, ...devDependencies].map(({ name }) => name),
    ),
  }
}
