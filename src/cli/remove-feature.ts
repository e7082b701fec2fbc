/** `npm run remove-feature -- NAME…`: removes features. Alone, it lists them with their size. */
import { fileURLToPath } from 'node:url'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { regenerate, requireFormatter, updateLockFile } from './generated.ts'
import { changeManifest, openProject, readManifest } from './project.ts'
import {
  describeFeature,
  findUnusedExports,
  placesOf,
  removeFeatures,
  tolerateUnusedExports,
} from './removal.ts'
import { commitOf, git } from './repository.ts'

const features = await loadFeatures()
const project = openProject(fileURLToPath(new URL('../..', import.meta.url)))

function listFeatures(): void {
  if (features.length === 0) print('All features are removed.')
  for (const { name, needs = [] } of features) {
    const { files, lines } = describeFeature(project, name)
    const size = `${String(files).padStart(3)} files, ${String(lines).padStart(5)} lines of source`
    print(`${name.padEnd(18)} ${size}${needs.length > 0 ? `   needs ${needs.join(', ')}` : ''}`)
  }
}

/** The features to remove. Throws if one does not exist, or if another one needs it. */
function selected(names: string[], withDependents: boolean): string[] {
  const unknown = names.find((name) => !features.some((feature) => feature.name === name))
  if (unknown) {
    const known = features.map(({ name }) => name).join(', ')
    throw new Error(`There is no feature "${unknown}". The features are: ${known || 'none'}.`)
  }
  const wanted = new Set(names)
  for (;;) {
    const dependent = features.find(
      ({ name, needs = [] }) => !wanted.has(name) && needs.some((need) => wanted.has(need)),
    )
    if (!dependent) return [...wanted]
    const need = dependent.needs?.find((name) => wanted.has(name))
    if (!withDependents)
      throw new Error(
        `${dependent.name} needs ${need}. To remove all features that need it as well: npm run remove-feature -- ${names.join(' ')} --with-dependents. Nothing was changed.`,
      )
    wanted.add(dependent.name)
  }
}

/** Throws if a feature's own files, or changes to them, are not committed: they would be lost. */
function requireCommitted(names: string[]): void {
  for (const name of names) {
    const paths = placesOf(project, name).filter(project.exists)
    const changes = git(project.root, 'status', '--porcelain', '--untracked-files=all', '--', ...paths) ?? ''
    const [first, ...others] = changes.split('\n').filter(Boolean)
    if (first)
      throw new Error(
        `${name} has changes that are not committed (${first.slice(3)}${others.length > 0 ? ' and others' : ''}): commit them, or delete them with --discard. Nothing was changed.`,
      )
  }
}

function remove(names: string[], discard: boolean): void {
  requireFormatter(project)
  if (!discard) requireCommitted(names)
  const ofStarter = names.filter(isOfStarter)
  const unusedBefore = findUnusedExports(project)
  removeFeatures(project, names)
  if (ofStarter.length > 0) noteRemoval(ofStarter)
  print(`Removed ${names.join(', ')}:`, ...project.done.map((change) => `  ${change}`))
  print('If nothing needs a scope any more, remove it from PLATFORM_SCOPES (.env), if it is there.')
  regenerate(project)
  updateLockFile(project)
  tolerateUnusedExports(project, unusedBefore)
  const undo = commitOf(project.root)
    ? 'git can undo the removal of what was committed'
    : 'without git, this cannot be undone'
  print(`Run npm test to check what is left; ${undo}.`)
}

/** Whether a feature came with the starter, as far as this clone's history says. */
function isOfStarter(name: string): boolean {
  const { starter } = readManifest(project)
  if (!starter) return false
  const { commit } = starter
  const isKnown = commit !== null && git(project.root, 'cat-file', '-e', `${commit}^{commit}`) !== null
  return !isKnown || git(project.root, 'cat-file', '-e', `${commit}:src/features/${name}/index.ts`) !== null
}

/** Notes what was removed, so that `npm run update` does not bring it back. */
function noteRemoval(names: string[]): void {
  changeManifest(
    project,
    ({ starter, ...manifest }) => ({
      ...manifest,
      ...(starter && { starter: { ...starter, removed: [...new Set([...starter.removed, ...names])] } }),
    }),
    'npm run update does not restore them',
  )
}

const command = createCommand(
  'remove-feature',
  'Removes features; without a name, lists them with their size.',
)
  .argument('[names...]', 'features to remove')
  .option('--with-dependents', 'also remove the features that need them', false)
  .option('--discard', 'delete them even if some of their files are not committed', false)
  .parse()
try {
  const { withDependents, discard } = command.opts<{ withDependents: boolean; discard: boolean }>()
  if (command.args.length === 0) listFeatures()
  else remove(selected(command.args, withDependents), discard)
} catch (error) {
  fail(error)
}
