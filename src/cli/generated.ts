import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Project } from './project.ts'

const biome = ({ root }: Project) => join(root, 'node_modules/.bin/biome')

/** Throws, before anything is changed, if the packages are not installed. */
export function requireFormatter(project: Project): void {
  if (!project.exists('node_modules/.bin/biome'))
    throw new Error('Run npm install first: the formatter is not installed.')
}

/** Writes the generated parts of the docs again, and formats the code. Reports a program that fails. */
export function regenerate(project: Project): void {
  run(project, process.execPath, ['src/cli/docs.ts'])
  run(project, biome(project), ['check', '--write', 'src', 'test', 'package.json'])
}

function run({ root }: Project, program: string, args: string[]): void {
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) console.error(`${program} ${args.join(' ')} failed: run it again.`)
}
