/** `npm run remove-feature -- NAME…`: removes features. Without a name, it lists the features with their purpose and size. */
import { groupsOf } from '../features/folders.ts'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { install, regenerate } from './programs.ts'
import { openProject } from './project.ts'
import { placesOfAll, removeAll, requireFeatures, sizeOf } from './removal.ts'
import { openRepository } from './repository.ts'

const features = await loadFeatures().catch(fail)
const project = openProject()
const folders = features.map(({ folder }) => folder)

function listFeatures(): void {
  if (features.length === 0) return void print('All features are removed.')
  for (const feature of features) {
    const { folder, title, needs = [] } = feature
    const needed = needs.length > 0 ? `; needs ${needs.join(', ')}` : ''
    print(`${folder.padEnd(26)} ${String(sizeOf(project, feature)).padStart(3)} files: ${title}${needed}`)
  }
  print('', 'npm run remove-feature -- NAME removes one, with what only it uses.')
  for (const group of groupsOf(folders)) print(`npm run remove-feature -- ${group} removes all of ${group}/.`)
}

/** These features, and all features that need any of them. */
function withDependents(names: readonly string[]): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.some((need) => names.includes(need)))
  const all = [...new Set([...names, ...dependents.map(({ name }) => name)])]
  return all.length === names.length ? all : withDependents(all)
}

function remove(asked: string[]): void {
  const names = requireFeatures(features, asked)
  const all = withDependents(names)
  if (all.length > names.length)
    throw new Error(
      `Other features need ${asked.join(', ')}. To remove all of them: npm run remove-feature -- ${all.join(' ')}. Nothing was changed.`,
    )
  openRepository(project.root).requireCommitted()
  const { files, packages } = removeAll(project, placesOfAll(folders, names))
  print(`Removed ${names.join(', ')}, with their pages, tests and docs.`)
  if (files.length > 0) print(`Files that nothing uses any more: ${files.join(', ')}.`)
  if (packages.length > 0) print(`Packages that nothing uses any more: ${packages.join(', ')}.`)
  print('If .env sets PLATFORM_SCOPES, remove the scopes there that no feature needs any more.')
  regenerate(project)
  install(project)
  print('Run npm test to check what is left, and commit. This puts everything back: git restore .')
}

await createCommand('npm run remove-feature --', 'Removes features. Without a name, lists the features.')
  .argument('[names...]', 'features or groups to remove')
  .action((names: string[]) => (names.length === 0 ? listFeatures() : remove(names)))
  .parseAsync()
