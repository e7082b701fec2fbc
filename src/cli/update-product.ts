/**
 * `node update-product.ts FOLDER [SOURCE] [FEATURE…]`: updates the product in a folder to the version of the starter that has
 * this file. That version is a clone with its history, which `npm run update` fetches. The update is a three-way merge of the
 * version that the product began with, this version, and the product. Both versions get the name of the product, and lose the files
 * that the product has deleted, so that these stay deleted. `SOURCE`: where the next update comes from, if not from this folder.
 * `FEATURE…`: the new features that the product takes. This file imports no package, since a fresh clone has none.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { nameProduct } from './naming.ts'
import { check, install, regenerate, run, temporaryFolder, type Unused } from './programs.ts'
import { type Manifest, openProject, readManifest, type Starter, writeManifest } from './project.ts'
import { removeUnused } from './removal.ts'
import { git, requireCommitted, requireGit } from './repository.ts'
import { packagesOf, updatedManifest, withoutCredentials } from './update-manifest.ts'
import { type Selection, selectFiles } from './update-selection.ts'

const starter = openProject()
const [target = '.', address = starter.root, ...wanted] = process.argv.slice(2)
const source = withoutCredentials(address)
const product = openProject(resolve(target))
const { root } = product
const folder = temporaryFolder()

/**
 * Finds the commit of the starter with exactly the files that the product began with. It finds them by the hash of their tree, so
 * the product need not share the starter's history: it may come from a ZIP file. Throws if there is no such commit up to this
 * version.
 */
function findBase(tree: string): string {
  const commits = requireGit(starter.root, ['log', '--format=%T %H', 'HEAD']).split('\n')
  const base = commits.find((line) => line.startsWith(`${tree} `))?.split(' ')[1]
  if (base) return base
  throw new Error(
    `Up to that version, ${source} has no commit with the files that this clone began with (starter.tree in package.json: ${tree}). If the version is not too old and you know the commit, enter its tree there: git rev-parse COMMIT^{tree}. Nothing was changed.`,
  )
}

/**
 * Writes a version of the starter as a commit of the product that is on no branch. It has this `package.json`, the product's
 * name, and the selected files.
 */
function ownVersion(commit: string, selection: Selection, manifest: object, name: string, parent?: string) {
  const dir = join(folder, commit)
  mkdirSync(dir)
  const inDir = (repository: string, index: string) => ({
    GIT_DIR: requireGit(repository, ['rev-parse', '--absolute-git-dir']),
    GIT_INDEX_FILE: join(folder, `${commit}.${index}`),
    GIT_WORK_TREE: dir,
  })
  requireGit(dir, ['checkout', commit, '--', '.'], inDir(starter.root, 'starter'))
  const version = openProject(dir)
  nameProduct(version, name)
  for (const file of version.filesBelow('.')) if (selection.isLeftOut(file)) version.remove(file)
  writeManifest(version, manifest)
  requireGit(dir, ['add', '--all', '--force', '.'], inDir(root, 'product'))
  const author = ['-c', 'user.name=starter', '-c', 'user.email=starter@localhost']
  const parents = parent ? ['-p', parent] : []
  const tree = requireGit(dir, ['write-tree'], inDir(root, 'product'))
  return requireGit(root, [...author, 'commit-tree', tree, ...parents, '-m', 'npm run update'])
}

/** The entries of the changelog that are new or changed since the base, in full. Those that break something come first. */
function changelogOf(base: string): string {
  const entriesOf = (text: string) => text.split(/\n+(?=- |#)/).filter((entry) => entry.startsWith('- '))
  const known = new Set(entriesOf(git(starter.root, 'show', `${base}:CHANGELOG.md`) ?? ''))
  const entries = entriesOf(starter.read('CHANGELOG.md')).filter((entry) => !known.has(entry))
  const isOther = (entry: string) => Number(!/breaking/i.test(entry))
  return entries
    .sort((a, b) => isOther(a) - isOther(b))
    .join('\n')
    .trim()
}

/** Merges a commit into a new branch, and commits nothing. Returns the files that are in conflict. */
function merge(branch: string, commit: string): string[] {
  requireGit(root, ['switch', '--quiet', '--create', branch])
  const { failure } = run(root, 'git', ['cherry-pick', '--no-commit', commit])
  const conflicts = changedFiles('--diff-filter=U')
  if (failure && conflicts.length === 0) throw new Error(`git cannot merge: ${failure}`)
  return conflicts
}

/**
 * Completes the merged product: installs its packages, removes packages of the starter and new files that nothing uses, and writes
 * the generated files. `before`: the files and packages that stay, whether something uses them or not.
 */
function complete(before: Unused): void {
  print('', 'Installing packages …')
  install(product)
  const { packages } = removeUnused(product, before)
  if (packages.length > 0) install(product)
  regenerate(product)
}

/** Stages the result and says what is next. `isBlocked`: whether the code cannot run, because it is in conflict. */
function report(branch: string, conflicts: string[], isBlocked: boolean): void {
  requireGit(root, ['add', '--all', '--', '.', ...conflicts.map((file) => `:(exclude)${file}`)])
  print('', `The branch ${branch} has ${changedFiles('HEAD').length} changed files, which are staged.`)
  if (conflicts.length > 0)
    print(
      'These are in conflict; look for <<<<<<< in them, and git add each when it is resolved:',
      ...conflicts.map((path) => `  ${path}`),
    )
  const test = 'npm test, which also lists files and packages that nothing uses any more'
  const next = isBlocked ? `Then run npm install, npm run docs and ${test}` : 'Run npm test'
  const abandon = `git switch --quiet --discard-changes - && git branch -D ${branch} && npm install`
  print(`${next}, and commit. To abandon the update: ${abandon}`)
}

const changedFiles = (...which: string[]) => listOf(root, ['diff', '--name-only', '-z', ...which])
const filesOf = (dir: string, revision: string) =>
  listOf(dir, ['ls-tree', '-r', '--name-only', '-z', revision])
const listOf = (dir: string, args: string[]) => requireGit(dir, args).split('\0').filter(Boolean)
const manifestOf = (revision: string): Manifest =>
  JSON.parse(requireGit(starter.root, ['show', `${revision}:package.json`]))

function update(): void {
  const manifest = readManifest(product)
  const began = manifest.starter
  if (!began) throw new Error(`${root} is no product yet: run npm run init there. Nothing was changed.`)
  requireCommitted(root)
  if (!existsSync(join(root, '.git')))
    throw new Error('The product must be a Git repository, not a folder in one. Nothing was changed.')
  const commit = requireGit(starter.root, ['rev-parse', 'HEAD'])
  const base = findBase(began.tree)
  const tree = requireGit(starter.root, ['rev-parse', 'HEAD^{tree}'])
  if (tree === began.tree) {
    print('This clone has everything of that version already. Nothing was changed.')
    return
  }
  const ours = filesOf(root, 'HEAD')
  const files = { base: filesOf(starter.root, base), theirs: filesOf(starter.root, commit), ours }
  const selection = selectFiles(files, wanted)
  const manifests = { base: manifestOf(base), theirs: manifestOf(commit) }
  const next: Starter = { name: began.name, version: manifests.theirs.version, tree, source }
  const merged = { ...updatedManifest(manifests.base, manifest, manifests.theirs), starter: next }
  const before = ownVersion(base, selection, manifest, began.name)
  const after = ownVersion(commit, selection, merged, began.name, before)
  print(...(changelogOf(base) || 'The changelog has nothing new.').split('\n'))
  const offered = selection.newFeatures.filter((name) => !wanted.includes(name))
  if (offered.length > 0)
    print('', `New features, which are not taken: ${offered.join(', ')}. To take them: --with NAME.`)
  const branch = `starter-${commit.slice(0, 12)}`
  const conflicts = merge(branch, after)
  const isBlocked = conflicts.some((file) => /\.(ts|cjs|json)$/.test(file))
  const ofStarter = packagesOf(manifests.base)
  const own = packagesOf(manifest).filter((name) => !ofStarter.includes(name))
  try {
    if (!isBlocked) complete({ files: ours, packages: own })
  } finally {
    report(branch, conflicts, isBlocked)
  }
  if (!isBlocked) process.exitCode = check(product)
}

try {
  update()
} catch (error) {
  fail(error)
}
