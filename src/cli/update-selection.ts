import { featureFolders, groupsOf, nameOf } from '../features/folders.ts'
import { placesOfAll } from './removal.ts'

export type Selection = ReturnType<typeof selectFiles>

/** Files that are the product's own since `init`, and files that programs write as a whole. */
const NOT_COMPARED =
  /^((README|CHANGELOG|docs\/(assumptions|([a-z-]+\/)?configuration))\.md|package-lock\.json|\.env\.example)$/

/**
 * Selects the files of an update, from those of the version that a clone began with, of the new version, and of the clone. What
 * the clone has deleted stays deleted, and so do new files in folders that the clone has deleted. Of the new features, the update
 * takes those that are wanted. `newFeatures`: the features that are new in the starter, unless the clone has one of that name.
 * Throws if a wanted feature is not among them.
 */
export function selectFiles(files: Record<'base' | 'theirs' | 'ours', string[]>, wanted: readonly string[]) {
  const [began, own] = [featuresOf(files.base), featuresOf(files.ours)]
  const ofStarter = featuresOf(files.theirs)
  const added = ofStarter.filter((name) => !began.includes(name))
  const newFeatures = added.filter((name) => !own.includes(name))
  const unknown = wanted.find((name) => !newFeatures.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `--with ${unknown}: that version has no such new feature. New are: ${newFeatures.join(', ') || 'none'}. Nothing was changed.`,
    )
  const taken = [...own.filter((name) => !added.includes(name)), ...wanted]
  const absent = placesOfAll(
    featureFolders(files.theirs),
    ofStarter.filter((name) => !taken.includes(name)),
    groupsOf(featureFolders(files.base)),
  )
  const left = new Set(absent)
  const base = new Set(files.base.flatMap(withFolders))
  const ours = new Set(files.ours.flatMap(withFolders))
  const groups = groupsOf(featureFolders(files.theirs))
  /** Where a file was before its feature moved into a group. What the clone deleted there, such as benchmarks, stays deleted. */
  const formerPlaces = (file: string) =>
    groups.filter((group) => file.includes(`/${group}/`)).map((group) => file.replace(`/${group}/`, '/'))
  const isLeftOut = (file: string): boolean =>
    (NOT_COMPARED.test(file) && ours.has(file)) ||
    [file, ...formerPlaces(file)]
      .flatMap(withFolders)
      .some((place) => left.has(place) || (base.has(place) && !ours.has(place)))
  return { newFeatures, isLeftOut }
}

const featuresOf = (files: readonly string[]) => featureFolders(files).map(nameOf)

/** A file and the folders that it is in: `a`, `a/b` and `a/b/c.ts`. */
function withFolders(file: string): string[] {
  const parts = file.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
