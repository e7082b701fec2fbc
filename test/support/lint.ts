import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempDir } from './env.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Complaint {
  /** `noRestrictedImports`, for example. */
  rule: string
  message: string
}

interface Report {
  diagnostics: { category: string; message: string; location: { path: string } }[]
}

/** What the linter says of files with this code, in the order of `files`; one run for all, as each takes its time. */
export function lint(files: { path: string; code: string }[]): Complaint[][] {
  const complaints: Complaint[][] = files.map(() => [])
  let left = files.map((file, index) => ({ ...file, index }))
  while (left.length > 0) {
    // Each path once in a run.
    const run = new Map(left.toReversed().map((file) => [file.path, file]))
    left = left.filter((file) => run.get(file.path) !== file)
    for (const { category, message, location } of report([...run.values()]).diagnostics) {
      const file = run.get(location.path)
      if (file) complaints[file.index]?.push({ rule: category.replace(/.*\//, ''), message })
    }
  }
  return complaints
}

function report(files: { path: string; code: string }[]): Report {
  const { dir, remove } = tempDir()
  copyFileSync(join(ROOT, 'biome.json'), join(dir, 'biome.json'))
  for (const { path, code } of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), code)
  }
  try {
    const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.']
    return JSON.parse(outputOf(join(ROOT, 'node_modules/.bin/biome'), args, dir))
  } finally {
    remove()
  }
}

/** It exits with 1 if it finds anything. */
function outputOf(command: string, args: string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, stdio: 'pipe', encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

/** A file at `path` that imports `target`; `x.ts` stands for any name. */
export const importing = ([path, target]: readonly [string, string], index: number) => ({
  path: path.replace(/\bx\.ts$/, `x${index}.ts`),
  code: `import { x } from '${target}'\n\nexport const y = x\n`,
})
