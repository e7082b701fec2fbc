import { spawnSync } from 'node:child_process'

function run(root: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 200_000_000,
    env: { ...process.env, ...env },
  })
}

/** Runs git; its output, or null if it fails. */
export function git(root: string, ...args: string[]): string | null {
  const { status, stdout } = run(root, args)
  return status === 0 ? stdout.trimEnd() : null
}

/** Runs git; its output. `env`: what its environment has in addition. Throws what git says if it fails. */
export function requireGit(root: string, args: readonly string[], env?: Record<string, string>): string {
  const { status, stdout, stderr } = run(root, args, env)
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr?.trim()}`)
  return stdout.trim()
}

/** Throws unless every file is committed: git undoes what a command changes. */
export function requireCommitted(root: string): void {
  if (git(root, 'rev-parse', '--verify', '--quiet', 'HEAD') === null)
    throw new Error(
      'These files are not in a Git repository: run git init && git add --all && git commit -m "The starter". Nothing was changed.',
    )
  const changes = git(root, 'status', '--porcelain')
  if (!changes) return
  const [first = '', ...others] = changes.split('\n').map((line) => line.slice(3))
  const files = others.length > 0 ? `${first} and ${others.length} more` : first
  throw new Error(
    `There are changes that are not committed (${files}). Commit or stash them first. Nothing was changed.`,
  )
}
