/**
 * The branch of an update, such as `starter-0123456789ab-metrics`. Its name has a prefix until the update is whole, so that an
 * interrupted update is recognised.
 */

const UNFINISHED = 'unfinished-'
const BRANCH = new RegExp(`^(${UNFINISHED})?starter-[0-9a-f]{12}(-[a-z0-9-]+)?$`)

/** `commit`: the version of the starter. `wanted`: the features that the update adds. */
export const branchOf = (commit: string, wanted: readonly string[]): string =>
  ['starter', commit.slice(0, 12), ...wanted].join('-')

/** The name of an update's branch until the update is whole. */
export const unfinished = (branch: string): string => UNFINISHED + branch

const giveUp = (branch: string) =>
  `To give up: git add -A && git reset -q --hard && git switch -q - && git branch -D ${branch} && npm install`

/** How to go on with a whole update, and how to give it up. */
export const next = (branch: string): string =>
  `To go on: resolve what "git status" lists as unmerged, run npm install, npm run docs and npm test, commit, and merge the branch. ${giveUp(branch)}`

/** Throws if the current branch is that of an update. An interrupted update can't go on, because its files may be any. */
export function requireOtherBranch(current: string): void {
  const [isOfUpdate, isUnfinished] = BRANCH.exec(current) ?? []
  if (isUnfinished)
    throw new Error(`An update was interrupted in this branch. ${giveUp(current)}. Then run it again.`)
  if (isOfUpdate) throw new Error(`This is the branch of an update that has begun. ${next(current)}`)
}

/** Creates the branch of an update that is not whole yet, and switches to it. Throws if an earlier update left it, whole or not. */
export function createBranch(git: (...args: string[]) => string, branch: string): void {
  const left = git('branch', '--list', '--format=%(refname:lstrip=2)', branch, unfinished(branch))
  const names = left.replaceAll('\n', ' ')
  if (names !== '')
    throw new Error(
      `An earlier update left the branch ${names}. To delete it: git branch -D ${names}. Then run the update again. Nothing was changed.`,
    )
  git('switch', '--quiet', '--create', unfinished(branch))
}
