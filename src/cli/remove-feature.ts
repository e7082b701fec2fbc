/** `npm run remove-feature -- NAME…`: removes features. Alone, it lists them with their size. */
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { regenerate, requirePackages } from './programs.ts'
import { openProject } from './project.ts'
import { placesOf, removeAll, sizeOf } from './removal.ts'
import { git } from './repository.ts'

const features = await loadFeatures().catch(fail)
const project = openProject()

function listFeatures(): void {
  if (features.length === 0) print('All features are removed.')
  for (const { name, needs = [] } of features) {
    const { files, lines } = sizeOf(project, name)
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
    const paths = placesOf(name).filter(project.exists)
    const changes = git(project.root, 'status', '--porcelain', '--untracked-files=all', '--', ...paths) ?? ''
    const [first, ...others] = changes.split('\n').filter(Boolean)
    if (first)
      throw new Error(
        `${name} has changes that are not committed (${first.slice(3)}${others.length > 0 ? ' and others' : ''}): commit them, or delete them with --discard. Nothing was changed.`,
      )
  }
}

function remove(names: string[], discard: boolean): void {
  requirePackages(project)
  if (!discard) requireCommitted(names)
  const { files, packages } = removeAll(project, names.flatMap(placesOf))
  print(`Removed ${names.join(', ')}, with their pages, tests and docs.`)
  if (files.length > 0) print(`Files that nothing uses any more: ${files.join(', ')}.`)
  if (packages.length > 0) print(`Packages that nothing uses any more: ${packages.join(', ')}.`)
  print('If nothing needs a scope any more, remove it from PLATFORM_SCOPES (.env), if it is there.')
  regenerate(project)
  const undo = git(project.root, 'rev-parse', 'HEAD')
    ? 'git can undo the removal of what was committed'
    : 'without git, this cannot be undone'
  print(`Run npm test to check what is left; ${undo}.`)
}

const command = createCommand(
  'npm run remove-feature --',
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
