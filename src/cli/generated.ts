import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { printError } from '../runtime/print.ts'
import type { Project } from './project.ts'

/** Throws, before anything is changed, if the packages are not installed. */
export function requireFormatter(project: Project): void {
  if (!project.exists('node_modules/.bin/biome'))
    throw new Error('Run npm install first: the formatter is not installed.')
}

/** Writes the generated parts of the docs again, and formats the code. Reports a program that fails. */
export function regenerate(project: Project): void {
  report('docs', spawnSync(process.execPath, ['src/cli/docs.ts'], { cwd: project.root, encoding: 'utf8' }))
  report('format', formatCode(project))
}

/** Formats the code and sorts its imports. */
export function formatCode({ root }: Project): SpawnSyncReturns<string> {
  const args = ['check', '--write', '--linter-enabled=false', 'src', 'test', 'package.json']
  return spawnSync(join(root, 'node_modules/.bin/biome'), args, { cwd: root, encoding: 'utf8' })
}

/** Writes the lock file again, without the packages that package.json names no more. */
export function updateLockFile({ root }: Project): void {
  const args = ['install', '--package-lock-only', '--ignore-scripts', '--offline']
  const { status } = spawnSync('npm', args, { cwd: root, stdio: 'ignore' })
  if (status !== 0) printError('package-lock.json could not be written: run npm install.')
}

function report(script: string, { status, stderr }: SpawnSyncReturns<string>): void {
  if (status === 0) return
  const [reason = ''] = /^\w*Error: .*$/m.exec(stderr) ?? []
  printError(`npm run ${script} failed (${reason || `exit code ${status}`}): correct that, and run it again.`)
}
