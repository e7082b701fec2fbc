import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Project } from './project.ts'

const biome = ({ root }: Project) => join(root, 'node_modules/.bin/biome')

/** Throws, before anything is changed, if the packages are not installed. */
export function requireFormatter(project: Project): void {
  if (!project.exists('node_modules/.bin/biome'))
    throw new Error('Run npm install first: the formatter is not installed.')
}

/** Writes the generated parts of the docs again, and formats the code, whose imports it sorts. Reports a program that fails. */
export function regenerate(project: Project): void {
  run(project, process.execPath, ['src/cli/docs.ts'])
  run(project, biome(project), ['check', '--write', '--linter-enabled=false', 'src', 'test', 'package.json'])
}

/** Writes the lock file again, without the packages that package.json names no more. */
export function updateLockFile({ root }: Project): void {
  const args = ['install', '--package-lock-only', '--ignore-scripts', '--offline']
  const { status } = spawnSync('npm', args, { cwd: root, stdio: 'ignore' })
  if (status !== 0) console.error('package-lock.json could not be written: run npm install.')
}

function run({ root }: Project, program: string, args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  const [reason = ''] = /^\w*Error: .*$/m.exec(stderr) ?? []
  console.error(
    `${args[0]} could not run (${reason || `exit code ${status}`}): correct that, and run npm run docs.`,
  )
}
