/** `npm run update -- [URL or folder] [version]`: merges a newer version of the starter into the product in this folder, by git. */
import { featureFolders, nameOf } from '../features/folders.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { check, install, regenerate } from './programs.ts'
import { type Manifest, openProject, packagesOf, readManifest, writeManifest } from './project.ts'
import * as removal from './removal.ts'
import { openRepository, withoutCredentials } from './repository.ts'
import { branchOf, createBranch, next, requireOtherBranch } from './update-branch.ts'
import { mergeKeys } from './update-manifest.ts'

const product = openProject(process.cwd())
const repository = openRepository(product.root)
const { git, tryGit, filesOf } = repository
const manifestOf = (commit: string): Manifest => JSON.parse(git('show', `${commit}:package.json`))

/** Files that belong to the product since `init`, and files that commands rewrite. */
const OWN =
  /^((README|CHANGELOG|docs\/(assumptions|([a-z-]+\/)?configuration))\.md|package(-lock)?\.json|\.env\.example)$/

/**
 * The latest commit of the starter that the product contains. For a product without the starter's history, for example from a ZIP
 * file, the hash of its initial files (`tree`) identifies it.
 */
function baseOf(theirs: string, tree: string, source: string): string {
  const commits = git('log', '--format=%T %H', theirs).split('\n')
  const [, beginning] = commits.find((line) => line.startsWith(tree))?.split(' ') ?? []
  const base = tryGit('merge-base', 'HEAD', theirs) ?? beginning
  if (base && !manifestOf(theirs).starter) return base
  throw new Error(`${source} is not the starter, or that version is older than yours. Nothing was changed.`)
}

/** The new entries of the changelog, except those that begin with the name of an absent feature. */
function changelogOf(base: string, theirs: string, absent: readonly string[]): string[] {
  const known = git('show', `${base}:CHANGELOG.md`)
  const ofAbsent = new RegExp(`^- (Breaking: )?(${absent.join('|')}): `)
  const entries = git('show', `${theirs}:CHANGELOG.md`).match(/^- .*(\n {2}.*)*/gm) ?? []
  const news = entries.filter((entry) => !known.includes(entry) && !ofAbsent.test(entry))
  return [...new Set(news)].flatMap((entry) => entry.split('\n'))
}

/** Merges the starter without committing. Keeps files that the product deleted or owns as they are. Returns the conflicts. */
function merge(base: string, theirs: string): string[] {
  const ours = filesOf('HEAD')
  const history = ['--strategy=ours', '--allow-unrelated-histories', '-m', "The starter's history"]
  if (tryGit('merge-base', 'HEAD', base) === null) git('merge', '--quiet', ...history, base)
  const unmerged = repository.merge(theirs, 'Update of the starter')
  git('checkout', 'HEAD', '--', ...ours.filter((file) => OWN.test(file)))
  // "DU" is git's state of a file that the product deleted, even if the starter renamed it.
  const states = repository.list('status', '--porcelain', '--no-renames', '-z')
  const deleted = unmerged.filter((file) => states.includes(`DU ${file}`))
  if (deleted.length > 0) git('rm', '--quiet', '--', ...deleted)
  return unmerged.filter((file) => !deleted.includes(file) && !OWN.test(file))
}

/**
 * Leaves out the files of unwanted features, and new files in folders that the product has deleted, or with imports that the product
 * lacks. Adds the wanted features, those that they need, and the files that they import. Returns what it adds and leaves out.
 */
function select(base: string, theirs: string, wanted: readonly string[]) {
  const [all, ours] = [filesOf(theirs), removal.foldersOf(filesOf('HEAD'))]
  const folders = featureFolders(all)
  const newIn = (...what: string[]) =>
    repository.list('diff', '--cached', '--name-only', '--diff-filter=A', '-z', ...what)
  const [newNames, added] = [newIn('--no-renames'), newIn('-M')]
  // If a feature of the product has a file of a feature, perhaps under another name, the product has this feature.
  const [merged, news] = [product.filesBelow('src/features'), newIn('-M', '--', 'src/features')]
  const had = removal.foldersOf(merged.filter((file) => !news.includes(file)))
  const present = featureFolders(merged).filter((folder) => had.includes(`src/features/${folder}`))
  const indexOf = (folder: string) => `src/features/${folder}/index.ts`
  // The product may have changed which others its features need.
  const kept = new Map(present.map((folder) => [nameOf(folder), product.read(indexOf(folder))]))
  const textOf = (folder: string) => kept.get(nameOf(folder)) ?? git('show', `${theirs}:${indexOf(folder)}`)
  const features = folders.map((folder) => ({ name: nameOf(folder), needs: removal.needsIn(textOf(folder)) }))
  const chosen = removal.withNeeded(features, [...kept.keys(), ...wanted])
  const brought = chosen.filter((name) => !kept.has(name))
  const unwanted = folders.map(nameOf).filter((name) => !chosen.includes(name))
  const others = removal.placesOfAll(folders, unwanted)
  const isLeftOut = (file: string) => removal.isOfStarter(file) || removal.isBelow(file, others)
  const deleted = removal.foldersOf(filesOf(base)).filter((folder) => !ours.includes(folder))
  const isInDeleted = (file: string) => added.includes(file) && removal.isBelow(file, deleted)
  for (const file of newNames) if (isLeftOut(file) || isInDeleted(file)) product.remove(file)
  const isNew = (file: string) => all.includes(file) && !product.exists(file) && !isLeftOut(file)
  const places = removal.placesWithGroups(folders, brought)
  for (let files = all.filter((file) => isNew(file) && removal.isBelow(file, places)); files.length > 0; ) {
    git('checkout', theirs, '--', ...files)
    files = files.flatMap((file) => removal.missingImports(product, file)).filter(isNew)
  }
  for (let broken = added; broken.length > 0; broken.forEach(product.remove))
    broken = added.filter((file) => removal.missingImports(product, file).length > 0)
  return { brought, unwanted }
}

/** Writes the merged package.json, with each package that the merged code imports. `source`: the default of the next update. */
function writeMerged(base: string, theirs: Manifest, source: string, brought: readonly string[]): void {
  const ours = readManifest(product)
  writeManifest(product, mergeKeys(manifestOf(base), ours, theirs))
  const merged = readManifest(product)
  const imported = ['src', 'test']
    .flatMap(product.filesBelow)
    .flatMap((file) => removal.importsOf(product, file))
  for (const list of ['dependencies', 'devDependencies'] as const)
    for (const [name, version] of Object.entries({ ...ours[list], ...theirs[list] }))
      if (!packagesOf(merged).includes(name) && imported.includes(name.replace('@types/', '')))
        merged[list][name] = version
  for (const [name, script] of Object.entries(theirs.scripts))
    if (brought.some((feature) => script.includes(`feature.ts ${feature} `))) merged.scripts[name] = script
  merged.scripts = removal.runnable(product, merged.scripts)
  writeManifest(product, { ...merged, starter: { ...ours.starter, version: theirs.version, source } })
}

function update(source: string | undefined, version: string | undefined, options: { with: string[] }): void {
  requireOtherBranch(git('branch', '--show-current'))
  const { starter } = readManifest(product)
  if (!starter) throw new Error('This clone is not yours yet: run npm run init first. Nothing was changed.')
  const from = source ?? starter.source
  if (!from) throw new Error('Add the address of the starter: npm run update -- URL. Nothing was changed.')
  repository.requireCommitted()
  const theirs = repository.fetch(from, version)
  const base = baseOf(theirs, starter.tree, from)
  const names = featureFolders(filesOf(theirs)).map(nameOf)
  const unknown = options.with.find((name) => !names.includes(name))
  if (unknown) throw new Error(`--with ${unknown}: the starter has no such feature. Nothing was changed.`)
  if (base === theirs && options.with.length === 0)
    throw new Error('This clone has everything of that version already. Nothing was changed.')
  const branch = branchOf(theirs, options.with)
  createBranch(git, branch)
  const conflicts = merge(base, theirs)
  const { brought, unwanted } = select(base, theirs, options.with)
  writeMerged(base, manifestOf(theirs), withoutCredentials(from), brought)
  print(...changelogOf(base, theirs, unwanted))
  print('', `Features that you leave out: ${unwanted.join(', ') || 'none'}. To take one: --with NAME.`)
  if (brought.length > 0) print(`Features that came, with those that they need: ${brought.join(', ')}.`)
  if (conflicts.length === 0) {
    install(product)
    regenerate(product)
  }
  git('add', '--all', '--', '.', ...conflicts.map((file) => `:(exclude)${file}`))
  git('branch', '--move', branch)
  const list = conflicts.join(', ') || 'nothing'
  print('', `The update is staged in the branch ${branch}. In conflict: ${list}.`, next(branch))
  process.exitCode = conflicts.length > 0 ? 1 : check(product)
}

await createCommand('npm run update --', 'Merges a newer version of the starter, in a branch.')
  .argument('[source]', 'the address of the starter, or its folder (default: the one of the last update)')
  .argument('[version]', 'a version, a tag, a branch or a commit (default: the newest commit)')
  .option('--with <name>', 'take a feature that you do not have', (name, all: string[]) => [...all, name], [])
  .action(update)
  .parseAsync()
