import { placesOf } from './removal.ts'

/** Which files of the starter's versions an update compares. */
export interface Selection {
  /** The starter's features that are new, and that this clone does not have. */
  newFeatures: string[]
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
 * deleted stays deleted, with what is new in folders that it has deleted; of the new features, those that are wanted are taken,
 * and none whose name an own feature has. Throws if there is no such new feature.
 */
export function selectFiles(
  files: Record<'base' | 'theirs' | 'ours', string[]>,
  wanted: readonly string[],
): Selection {
  const features = {
    base: featuresOf(files.base),
    theirs: featuresOf(files.theirs),
    ours: featuresOf(files.ours),
  }
  const isOurs = (name: string) => features.ours.includes(name)
  const added = features.theirs.filter((name) => !features.base.includes(name))
  const newFeatures = added.filter((name) => !isOurs(name))
  const unknown = wanted.find((name) => !newFeatures.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `--with ${unknown}: that version has no such new feature. New are: ${newFeatures.join(', ') || 'none'}. Nothing was changed.`,
    )
  const left = features.theirs.filter((name) =>
    isOurs(name) ? added.includes(name) : !wanted.includes(name),
  )
  const theirs = new Set(left.flatMap(placesOf))
  const base = new Set(files.base.flatMap(withFolders))
  const ours = new Set(files.ours.flatMap(withFolders))
  return {
    newFeatures,
    isLeftOut: (file) =>
      NOT_COMPARED.includes(file) ||
      withFolders(file).some((place) => theirs.has(place) || (base.has(place) && !ours.has(place))),
  }
}

const featuresOf = (files: readonly string[]) =>
  files.flatMap((file) => /^src\/features\/([^/]+)\/index\.ts$/.exec(file)?.[1] ?? [])

/** A file and the folders that it is in: `a`, `a/b` and `a/b/c.ts`. */
function withFolders(file: string): string[] {
  const parts = file.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
