/** Removes features, and what only they have used, from a clone. */
import type { NamedFeature } from '../features/load.ts'
import { findUnused, type Unused } from './programs.ts'
import { type Project, readManifest, writeManifest } from './project.ts'

/** Everything that belongs to a feature, by its place. */
export const placesOf = (name: string) => [
  `src/features/${name}`,
  `src/sandbox/features/${name}`,
  `views/${name}`,
  `views/sandbox/${name}`,
  `views/public/${name}`,
  `test/features/${name}`,
  `test/sandbox/features/${name}`,
  `docs/${name}`,
  `docs/${name}.md`,
  `docs/${name}.png`,
]

/** Throws if there is no feature of one of these names. */
export function requireFeatures(features: readonly NamedFeature[], names: readonly string[]): void {
  const known = features.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(
      `There is no feature "${unknown}". The features are: ${known.join(', ') || 'none'}. Nothing was changed.`,
    )
}

/** How many files a feature has. */
export const sizeOf = (project: Project, name: string): number =>
  placesOf(name).flatMap(project.filesBelow).length

/**
 * Removes features or other folders, and what nothing uses without them. Throws, before anything is changed, if knip cannot
 * run.
 */
export function removeAll(project: Project, places: readonly string[]): Unused {
  const before = findUnused(project)
  for (const place of places) project.remove(place)
  return removeUnused(project, before)
}

/**
 * Removes npm scripts whose file is gone, and files and packages that nothing uses, unless nothing has used them before.
 * Returns the files and packages.
 */
export function removeUnused(project: Project, before: Unused): Unused {
  const manifest = readManifest(project)
  // First the scripts: one that is gone may have been the only one to use a file or a package.
  writeManifest(project, { ...manifest, scripts: without(manifest.scripts, isScriptOfGoneFile(project)) })
  const unused = findUnused(project)
  const files = unused.files.filter((file) => !before.files.includes(file))
  const packages = unused.packages.filter((name) => !before.packages.includes(name))
  for (const file of files) project.remove(file)
  const isUnused = (name: string) => packages.includes(name)
  const used = readManifest(project)
  writeManifest(project, {
    ...used,
    devDependencies: without(used.devDependencies, isUnused),
    dependencies: without(used.dependencies, isUnused),
  })
  return { files, packages }
}

const without = (map: Record<string, string>, isGone: (key: string, value: string) => boolean) =>
  Object.fromEntries(Object.entries(map).filter(([key, value]) => !isGone(key, value)))

/** Whether the file of an npm script, or of the command of a feature that it runs, is gone. */
const isScriptOfGoneFile = (project: Project) => (_name: string, script: string) => {
  const [, program, feature, command] = /^node src\/start\.cjs (\S+\.ts)(?: (\S+) (\S+))?/.exec(script) ?? []
  const file =
    program === 'src/cli/feature.ts' && command ? `src/features/${feature}/cli-${command}.ts` : program
  return file !== undefined && !project.exists(file)
}
