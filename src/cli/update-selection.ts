import { placesOf } from './removal.ts'

/** Which files of the starter's versions an update compares. */
export interface Selection {
  /** The starter's features that are new, and that this clone does not have. */
  readonly newFeatures: string[]
  /** The starter's features that are new, and whose name an own feature of this clone has. */
  readonly ownOfSameName: string[]
  /** Takes new features. Throws if there is no such new feature. */
  take(names: readonly string[]): void
  isLeftOut(file: string): boolean
}

/** The product's own since `init`, and files that programs write as a whole. */
const NOT_COMPARED = [
  'README.md',
  'CHANGELOG.md',
  'package-lock.json',
  'docs/assumptions.md',
  'docs/configuration.md',
  '.env.example',
]

/**
 * Selects from the files of the version that a clone began with, of the new version, and of the clone: what the clone has
 * deleted stays deleted, with what is new in folders that it has deleted; new features are taken only if they are wanted.
 */
export function createSelection(files: Record<'base' | 'theirs' | 'ours', string[]>): Selection {
  const [base, ours] = [new Set(files.base), new Set(files.ours)]
  const [baseFolders, ourFolders] = [
    new Set(files.base.flatMap(foldersOf)),
    new Set(files.ours.flatMap(foldersOf)),
  ]
  const features = {
    base: featuresOf(files.base),
    theirs: featuresOf(files.theirs),
    ours: featuresOf(files.ours),
  }
  const added = features.theirs.filter((name) => !features.base.includes(name))
  const newFeatures = added.filter((name) => !features.ours.includes(name))
  const ownOfSameName = added.filter((name) => features.ours.includes(name))
  const removed = features.base.filter((name) => !features.ours.includes(name))
  let left = placesOfAll([...removed, ...added])
  return {
    newFeatures,
    ownOfSameName,
    take(names) {
      const unknown = names.find((name) => !newFeatures.includes(name))
      if (unknown !== undefined)
        throw new Error(
          `--with ${unknown}: that version has no such new feature. New are: ${newFeatures.join(', ') || 'none'}. Nothing was changed.`,
        )
      left = placesOfAll([...removed, ...added.filter((name) => !names.includes(name))])
    },
    isLeftOut: (file) =>
      NOT_COMPARED.includes(file) ||
      (base.has(file) && !ours.has(file)) ||
      [file, ...foldersOf(file)].some(
        (place) => left.has(place) || (baseFolders.has(place) && !ourFolders.has(place)),
      ),
  }
}

const placesOfAll = (names: readonly string[]) => new Set(names.flatMap(placesOf))

const featuresOf = (files: readonly string[]) =>
  files.flatMap((file) => /^src\/features\/([^/]+)\/index\.ts$/.exec(file)?.[1] ?? [])

/** The folders that a file is in: of `a/b/c.ts`, `a/b` and `a`. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
