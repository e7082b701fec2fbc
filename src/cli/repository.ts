import { run } from './programs.ts'

/** The address of a repository without a user name, a password or a token, so that it can be written to a file. */
export const withoutCredentials = (address: string): string => address.replace(/^(https?:\/\/)[^/]*@/i, '$1')

/** Git in a folder. Its messages are in English, because `requireCommitted` looks for words in a message. */
export function openRepository(root: string) {
  const ended = (args: readonly string[]) =>
    run(root, 'git', args, { env: { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' } })

  /** Runs git, and returns its output. Throws an error with git's message if git fails. */
  function git(...args: string[]): string {
    const { failure, stdout } = ended(args)
    if (failure) throw new Error(`git ${args[0]} failed: ${failure}`)
    return stdout.trim()
  }
  /** Runs git. Returns its output, or null if it fails. */
  const tryGit = (...args: string[]): string | null => {
    const { failure, stdout } = ended(args)
    return failure ? null : stdout.trimEnd()
  }
  /** Runs a git command that prints file names, each with a zero byte at its end (`-z`). Returns the names. */
  const list = (...args: string[]): string[] =>
    git(...args)
      .split('\0')
      .filter(Boolean)

  return {
    git,
    tryGit,
    list,
    /** The files of a commit. */
    filesOf: (commit: string) => list('ls-tree', '-r', '--name-only', '-z', commit),

    /**
     * Fetches a version from another repository, with its history, and returns its commit. `version`: a tag, with or without its
     * `v`, a branch or a commit; by default, the newest commit. If git fails, throws its message without credentials.
     */
    fetch(source: string, version = 'HEAD'): string {
      const failureOf = (ref: string) => ended(['fetch', '--quiet', '--no-tags', '--', source, ref]).failure
      const failure = failureOf(`refs/tags/v${version}`) && failureOf(version)
      if (failure)
        throw new Error(`${withoutCredentials(source)} cannot be fetched: ${failure}\nNothing was changed.`)
      return git('rev-parse', 'FETCH_HEAD')
    },

    /**
     * Merges a commit without committing. `message`: of the commit to come. Returns the files in conflict. If git cannot merge,
     * throws an error with its message.
     */
    merge(commit: string, message: string): string[] {
      const { failure } = ended(['merge', '--quiet', '--no-commit', '--no-ff', '-m', message, commit])
      const unmerged = list('diff', '--name-only', '--diff-filter=U', '-z')
      if (failure && unmerged.length === 0) throw new Error(`git cannot merge: ${failure}`)
      return unmerged
    },

    /** Throws unless all changes are committed, so that git can undo the changes of a command. Also throws if git fails. */
    requireCommitted(): void {
      const { failure, stdout } = ended(['status', '--porcelain'])
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
    },
  }
}
