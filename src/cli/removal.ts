/** Removes features, and what only they have used, from a clone. */
import { findUnused, type Unused } from './programs.ts'
import { changeManifest, type Project, without } from './project.ts'

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
  `test/starter/texts/${name}.alone.test.ts`,
]

/** How many files a feature has, and lines of source. */
export function sizeOf(project: Project, name: string) {
  const files = placesOf(name).flatMap(project.filesBelow)
  const source = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
  const lines = source.reduce((sum, file) => sum + project.read(file).split('\n').length - 1, 0)
  return { files: files.length, lines }
}

/**
 * Removes features or other folders, and what nothing uses without them: files, packages and npm scripts. What nothing has
 * used before stays. Throws, before anything is changed, if knip cannot run.
 */
export function removeAll(project: Project, places: readonly string[]): void {
  const before = findUnused(project)
  for (const place of places) project.remove(place)
  removeUnused(project, before)
}

/** Removes npm scripts whose file is gone, and the files and packages that nothing uses, unless nothing has used them before. */
export function removeUnused(
  project: Project,
  before: Unused,
  isFile: (file: string) => boolean = () => true,
  isPackage: (name: string) => boolean = () => true,
): void {
  removeScripts(project)
  // A script that is gone may have been the only one to use a file or a package.
  const { files, packages } = findUnused(project)
  for (const file of files) if (!before.files.includes(file) && isFile(file)) project.remove(file)
  const gone = packages.filter((name) => !before.packages.includes(name) && isPackage(name))
  changeManifest(
    project,
    (manifest) => ({
      ...manifest,
      dependencies: without(manifest.dependencies, (name) => gone.includes(name)),
      devDependencies: without(manifest.devDependencies, (name) => gone.includes(name)),
    }),
    `nothing uses these packages any more: ${gone.join(', ')}`,
  )
}

/** Removes the npm scripts of a file, or of a command of a feature, that is gone. */
function removeScripts(project: Project): void {
  const isGone = (_name: string, script: string) => {
    const [, feature, command] = /^node src\/cli\/feature\.ts (\S+) (\S+)/.exec(script) ?? []
    const file = command ? `src/features/${feature}/cli-${command}.ts` : /^node (\S+\.ts)/.exec(script)?.[1]
    return file !== undefined && !project.exists(file)
  }
  changeManifest(
    project,
    (manifest) => ({ ...manifest, scripts: without(manifest.scripts, isGone) }),
    'scripts of what is gone were removed',
  )
}
