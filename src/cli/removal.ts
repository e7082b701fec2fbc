/** Removes features, and the files and packages that only they used, from a clone. */
import { posix } from 'node:path'
import { groupOf, groupsOf, nameOf } from '../features/folders.ts'
import type { NamedFeature } from '../features/load.ts'
import { findUnused, type Unused } from './programs.ts'
import { type Project, readManifest, writeManifest } from './project.ts'

/** The folders in which a feature may have its own folder or file. */
const BASES = [
  'src/features',
  'src/sandbox/features',
  'views',
  'views/sandbox',
  'views/public',
  'test/features',
  'test/sandbox/features',
  'docs',
]

/** All paths where the feature or the group with this name may have files. A feature may be in any of `groups`, or in no group. */
export const placesOf = (name: string, groups: readonly string[]): string[] =>
  BASES.flatMap((base) => ['', ...groups].map((group) => posix.join(base, group, name))).flatMap((place) => [
    place,
    `${place}.md`,
    `${place}.png`,
  ])

const OF_STARTER = [
  /^test\/(bench|chaos|gallery|real|sandbox|scale|starter|features\/.+\/bench)\//,
  // They run what a product does not change in browsers and with processes that are killed.
  /^test\/.+\.long\.test\.ts$/,
  /^src\/cli\/(init|naming|product-readme)\.|^docs\/demo[.-]|^\.ci\//,
]

/** Whether a file tests, demonstrates or names only the starter, so that `init` deletes it. */
export const isOfStarter = (file: string): boolean => OF_STARTER.some((pattern) => pattern.test(file))

/** Whether a file is at or below one of these paths. */
export const isBelow = (file: string, places: readonly string[]): boolean =>
  places.some((place) => file === place || file.startsWith(`${place}/`))

/** All folders that contain these files, directly or indirectly. */
export const foldersOf = (files: readonly string[]): string[] => {
  const above = (file: string): string[] => (file === '.' ? [] : [file, ...above(posix.dirname(file))])
  return [...new Set(files.map(posix.dirname).flatMap(above))]
}

/** Matches an import: a relative path, or the name of a package. */
const IMPORT = /(?:\bfrom |\bimport\(?\s*)'(\.[^']*|(?:@[^/']+\/)?[^/']+)/g

/** The relative paths and the packages that a file of TypeScript imports. Empty for a missing file. */
export const importsOf = (project: Project, file: string): string[] =>
  project.exists(file) && file.endsWith('.ts')
    ? [...project.read(file).matchAll(IMPORT)].map(([, name = '']) => name)
    : []

/** The missing files that a file imports. */
export const missingImports = (project: Project, file: string): string[] =>
  importsOf(project, file)
    .filter((name) => name.startsWith('.'))
    .map((name) => posix.join(posix.dirname(file), name))
    .filter((target) => !project.exists(target))

/** These names, and the names of the features that they need, directly or indirectly. */
export function withNeeded(
  features: readonly Pick<NamedFeature, 'name' | 'needs'>[],
  names: readonly string[],
): string[] {
  const needed = features.filter(({ name }) => names.includes(name)).flatMap(({ needs = [] }) => needs)
  const all = [...new Set([...names, ...needed])]
  return all.length === names.length ? all : withNeeded(features, all)
}

/** The features that a feature needs, from the text of its `index.ts`, which may be in a version that cannot be loaded here. */
export function needsIn(text: string): string[] {
  const [, list = ''] = /^ {2}needs: \[([^\]]*)\]/m.exec(text) ?? []
  return [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name)
}

/** Replaces the name of each group with the names of its features. Throws if there is no such feature or group. */
export function requireFeatures(features: readonly NamedFeature[], names: readonly string[]): string[] {
  const found = names.flatMap((asked) => {
    const meant = features.filter(({ name, folder }) => name === asked || groupOf(folder) === asked)
    if (meant.length > 0) return meant.map(({ name }) => name)
    const known = [...features.map(({ name }) => name), ...groupsOf(features.map(({ folder }) => folder))]
    throw new Error(
      `There is no feature "${asked}". The features are: ${known.join(', ') || 'none'}. Nothing was changed.`,
    )
  })
  return [...new Set(found)]
}

/** The paths of the features with these names, and of each group without other features. `folders`: those of all features. */
export function placesOfAll(folders: readonly string[], names: readonly string[]): string[] {
  const groups = groupsOf(folders)
  const kept = groupsOf(folders.filter((folder) => !names.includes(nameOf(folder))))
  const empty = groups.filter((group) => !kept.includes(group))
  return [...names, ...empty].flatMap((name) => placesOf(name, groups))
}

/** The paths of the features with these names, and of their groups. */
export const placesWithGroups = (folders: readonly string[], names: readonly string[]): string[] =>
  [...names, ...groupsOf(folders.filter((folder) => names.includes(nameOf(folder))))].flatMap((name) =>
    placesOf(name, groupsOf(folders)),
  )

/** The number of a feature's files. */
export const sizeOf = (project: Project, { name, folder }: Pick<NamedFeature, 'name' | 'folder'>): number =>
  placesOf(name, groupsOf([folder])).flatMap(project.filesBelow).length

/**
 * Removes features or other folders, and the npm scripts, files and packages that are unused without them. Leaves those that were
 * unused before. Returns the removed files and packages. If knip cannot run, throws before any change.
 */
export function removeAll(project: Project, places: readonly string[]): Unused {
  const before = findUnused(project)
  for (const place of places) project.remove(place)
  const manifest = readManifest(project)
  // Remove scripts first, because a file or a package may only be used by a script.
  const scripts = runnable(project, manifest.scripts)
  writeManifest(project, { ...manifest, scripts })
  const unused = findUnused(project)
  const files = unused.files.filter((file) => !before.files.includes(file))
  const packages = unused.packages.filter((name) => !before.packages.includes(name))
  for (const file of files) project.remove(file)
  const isUnused = (name: string) => packages.includes(name)
  writeManifest(project, {
    ...manifest,
    scripts,
    devDependencies: without(manifest.devDependencies, isUnused),
    dependencies: without(manifest.dependencies, isUnused),
  })
  return { files, packages }
}

const without = (map: Record<string, string>, isGone: (key: string, value: string) => boolean) =>
  Object.fromEntries(Object.entries(map).filter(([key, value]) => !isGone(key, value)))

/** These npm scripts, except those that run a missing file: a program, or a feature's command. */
export const runnable = (project: Project, scripts: Record<string, string>): Record<string, string> =>
  without(scripts, (_name, script) => {
    const [, program, feature, command] = /^node src\/run\.cjs (\S+\.ts)(?: (\S+) (\S+))?/.exec(script) ?? []
    if (program === undefined) return false
    if (program !== 'src/cli/feature.ts' || !command) return !project.exists(program)
    return !project.filesBelow('src/features').some((path) => path.endsWith(`/${feature}/cli-${command}.ts`))
  })
