import { execFile } from 'node:child_process'
import { cpSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fileOf } from '../../src/cli/programs.ts'
import { tempDir } from './env.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NOT_COPIED = new Set(['.git', '.data', '.demo', 'coverage'])
const execute = promisify(execFile)

/** A new copy of the project, or of an earlier copy, with this project's packages. */
export function copyProject(from = ROOT) {
  // On the disk, to which packages can be linked.
  const { dir, remove } = tempDir(tmpdir())
  for (const name of readdirSync(from))
    if (name !== 'node_modules' && (from !== ROOT || !NOT_COPIED.has(name)))
      cpSync(join(from, name), join(dir, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))

  /** Runs a program in the copy, and resolves to its output. If the program fails, throws an error with the output. */
  async function run(program: string, args: string[]): Promise<string> {
    // The programs of the copy are not workers of this test run.
    const inherited = Object.entries(process.env).filter(([name]) => !/^VITEST|^FORCE_COLOR$/.test(name))
    // The copies share the packages, and vitest empties its cache there if the lock file differs. So each copy has its own cache.
    const VITEST_FS_MODULE_CACHE_PATH = join(dir, '.data/vitest-cache')
    const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', VITEST_FS_MODULE_CACHE_PATH }
    try {
      const { stdout, stderr } = await execute(program, args, { cwd: dir, maxBuffer: 50_000_000, env })
      return stdout + stderr
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`)
    }
  }
  /** Starts the program as package.json does. */
  const program = (file: string, ...args: string[]) => run(process.execPath, ['src/run.cjs', file, ...args])
  return {
    dir,
    remove,
    /** A program of a package: `tsc`. */
    bin: (name: string, ...args: string[]) => run(process.execPath, [fileOf(ROOT, name), ...args]),
    program,
    npm: (...args: string[]) => run('npm', args),
    /** One of the commands of `src/cli`. */
    command: (name: string, ...args: string[]) => program(`src/cli/${name}.ts`, ...args),
  }
}
