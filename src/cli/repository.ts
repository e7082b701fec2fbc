import { type Ended, run } from './programs.ts'

/** Runs git with messages in English, because `requireCommitted` looks for words of one. */
const runGit = (root: string, args: readonly string[], env?: Record<string, string>): Ended =>
  run(root, 'git', args, { env: { LC_ALL: 'C', ...env } })

/** Runs git. Returns its output, or null if it fails. */
export function git(root: string, ...args: string[]): string | null {
  const { failure, stdout } = runGit(root, args)
  return failure ? null : stdout.trimEnd()
}

/** Runs git, with `env` added to its environment. Returns its output. Throws an error with git's message if git fails. */
export function requireGit(root: string, args: readonly string[], env?: Record<string, string>): string {
  const { failure, stdout } = runGit(root, args, env)
  if (failure) throw new Error(`git ${args[0]} failed: ${failure}`)
  return stdout.trim()
}

/** Throws unless every file is committed, so that git can undo what a command changes. If git fails, throws its message. */
export function requireCommitted(root: string): void {
  const { failure, stdout } = runGit(root, ['status', '--porcelain'])
  if (failure?.includes('not a git repository'))
    throw new Error(
      'These files are not in a Git repository: run git init && git add --all && git commit -m "The starter". Nothing was changed.',
    )
  if (failure) throw new Error(`git status failed: ${failure}\nNothing was changed.`)
  const changes = stdout.trimEnd()
  if (changes === '') return
  const [first = '', ...others] = changes.split('\n').map((line) => line.slice(3))
  const files = others.length > 0 ? `${first} and ${others.length} more` : first
  throw new Error(
    `There are changes that are not committed (${files}). Commit or stash them first. Nothing was changed.`,
  )
}
