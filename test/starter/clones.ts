import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyProject } from '../support/project.ts'

/** A copy of the starter, or of another clone, that is committed to a Git repository of its own, without the history of others. */
export function openClone(from?: string) {
  const copy = copyProject(from)
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
    /** Throws if the file does not have the text. */
    edit(file: string, text: string, next: string): void {
      if (!read(file).includes(text)) throw new Error(`${file} has no ${text}`)
      writeFileSync(join(copy.dir, file), read(file).replace(text, next))
    },
    /** What `npm run check` does. */
    async check(): Promise<void> {
      await copy.bin('tsc', '--singleThreaded', '--incremental', 'false')
      await copy.bin('knip')
      await copy.bin('biome', 'ci')
    },
    /** Retried once: other long tests keep the machine busy. */
    runTests: (...tests: string[]) =>
      copy.bin('vitest', 'run', '--retry=1', '--maxWorkers=1', '--config', 'test/vitest.config.ts', ...tests),
  }
}
