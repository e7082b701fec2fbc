import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'
import { copyProject } from '../support/project.ts'

/**
 * A copy of the starter, or of another clone, that is committed to a Git repository of its own, without the history of others. Its
 * packages are its own, so that its commands may install and remove some.
 */
export function openClone(from?: string) {
  const copy = copyProject(from)
  linkPackages(join(copy.dir, 'node_modules'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: copy.dir,
      encoding: 'utf8',
    }).trim()
  const commit = (message: string) => {
    git('add', '--all')
    git('commit', '-qm', message)
  }
  if (from === undefined) {
    git('init', '-q', '-b', 'main')
    commit('The starter')
  }
  const read = (file: string) => readFileSync(join(copy.dir, file), 'utf8')
  return {
    ...copy,
    git,
    commit,
    read,
    /** Throws an error if the file doesn't contain the text. */
    edit(file: string, text: string, next: string): void {
      if (!read(file).includes(text)) throw new Error(`${file} has no ${text}`)
      writeFileSync(join(copy.dir, file), read(file).replace(text, next))
    },
    /** Does the same as `npm run check`, except for the list of unused files. Throws an error with the output of a tool that fails. */
    async check(): Promise<void> {
      await copy.bin('tsc')
      await copy.bin('biome', 'ci')
    },
    /** The unused files and packages, according to knip. */
    unused: () => copy.bin('knip', '--cache', '--no-config-hints'),
    runTests: (...tests: string[]) =>
      copy.bin('vitest', 'run', '--maxWorkers=1', '--config', 'test/vitest.config.ts', ...tests),
  }
}

/** A clone of the files of a version of a repository, as from a ZIP file, committed to a repository of its own. */
export function openZip(repository: string, version: string) {
  const zip = tempDir()
  execFileSync('sh', ['-c', 'git -C "$0" archive "$1" | tar x -C "$2"', repository, version, zip.dir])
  const clone = openClone(zip.dir)
  zip.remove()
  clone.git('init', '-q', '-b', 'main')
  clone.commit('Our beginning')
  return clone
}

/**
 * Links the files of the packages. Copies the files that npm and the compiler overwrite in place, because tools replace all others.
 */
function linkPackages(folder: string): void {
  const packages = join(ROOT, 'node_modules')
  rmSync(folder)
  execFileSync('sh', ['-c', 'cp -al "$0" "$1" 2>/dev/null || cp -a "$0" "$1"', packages, folder])
  // With the compiler's cache of this project, it checks only the files that differ in the clone.
  for (const file of ['.package-lock.json', '.cache/connect/tsconfig.tsbuildinfo']) {
    if (!existsSync(join(packages, file))) continue
    rmSync(join(folder, file))
    copyFileSync(join(packages, file), join(folder, file))
  }
}
