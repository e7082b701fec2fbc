import { spawnSync } from 'node:child_process'

/** Runs git; its output, or null if it fails. */
export function git(root: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 200_000_000 })
  return status === 0 ? stdout.trim() : null
}

/** The commit that is checked out; null without git. */
export const commitOf = (root: string): string | null => git(root, 'rev-parse', 'HEAD')

/** Throws if a file differs from what is committed: git could not undo what a command changes. */
export function requireCleanTree(root: string): void {
  const changes = git(root, 'status', '--porcelain')
  if (changes)
    throw new Error(
      `There are changes that are not committed (${changes.split('\n').length} files). Commit or stash them first. Nothing was changed.`,
    )
}
