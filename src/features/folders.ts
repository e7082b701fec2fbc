/** Finds features by their place. A feature is a folder with an `index.ts`; a group is a folder of features without its own. */
import { posix } from 'node:path'

/** The folders of features among the files of a project, relative to `src/features`: `leads`, `GROUP/NAME`. */
export function featureFolders(files: readonly string[]): string[] {
  const folders = files.flatMap(
    (file) => /^src\/features\/((?:[^/]+\/)?[^/]+)\/index\.ts$/.exec(file)?.[1] ?? [],
  )
  // An `index.ts` inside a feature is a file like any other.
  return folders.filter((folder) => !folders.includes(posix.dirname(folder)))
}

/** The name of the feature in a folder. It does not depend on the group. */
export const nameOf = (folder: string): string => posix.basename(folder)

/** The group that contains a folder, if any. */
export const groupOf = (folder: string): string | undefined =>
  folder.includes('/') ? posix.dirname(folder) : undefined

/** The groups that contain these folders. */
export const groupsOf = (folders: readonly string[]): string[] => [
  ...new Set(folders.flatMap((folder) => groupOf(folder) ?? [])),
]
