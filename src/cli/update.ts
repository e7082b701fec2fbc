/**
 * `npm run update -- [URL or folder] [version]`: merges a newer version of the starter: a three-way merge of the version
 * that this clone began with, the new version, and this clone. What this clone has deleted is left out of both versions, so
 * that it stays deleted; both get the name of the product.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { mergeJson } from './merge-json.ts'
import { nameProduct } from './naming.ts'
import { regenerate, report, run, runNpm } from './programs.ts'
import { type Manifest, openProject, readManifest, type Starter } from './project.ts'
import { removeUnused } from './removal.ts'
import { git, requireCommitted, requireGit } from './repository.ts'
import { type Selection, selectFiles } from './update-selection.ts'

const project = openProject()
const { root } = project

const command = createCommand('npm run update --', 'Merges a newer version of the starter, in a branch.')
  .argument('[source]', 'the address of the starter, or its folder (default: that of the last update)')
  .argument('[version]', 'a version, a tag or a commit (default: the newest commit)')
  .option('--with <names...>', 'take these new features of the starter', [])
  .parse()

/** A temporary folder, removed when the process ends. */
const folder = mkdtempSync(join(tmpdir(), 'starter-update-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const starterGit = join(folder, 'starter.git')

/** Fetches the starter's history; returns the new commit. Throws what git says if that fails. */
function fetchStarter(source: string, version: string | undefined): string {
  const env = { GIT_TERMINAL_PROMPT: '0' }
  const { failure } = run(root, 'git', ['clone', '--quiet', '--bare', source, starterGit], { env })
  if (failure) throw new Error(`${source} cannot be fetched: ${failure}\nNothing was changed.`)
  const commit = [`v${version}`, version ?? 'HEAD']
    .map((name) => git(starterGit, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`))
    .find(Boolean)
  if (!commit) throw new Error(`${source} has no version ${version ?? 'yet'}. Nothing was changed.`)
  return commit
}

/**
 * The commit of the starter with exactly the files that this clone began with. They are found by their hash, so the clone
 * need not share the starter's history: it may come from a ZIP file. Throws if there is none before `commit`.
 */
function findBase(source: string, commit: string, tree: string): string {
  const commits = requireGit(starterGit, ['log', '--format=%T %H', commit]).split('\n')
  const base = commits.find((line) => line.startsWith(`${tree} `))?.split(' ')[1]
  if (base) return base
  throw new Error(
    `Up to that version, ${source} has no commit with the files that this clone began with (starter.tree in package.json: ${tree}). If the version is not too old and you know the commit, enter its tree there: git rev-parse COMMIT^{tree}. Nothing was changed.`,
  )
}

/** A version of the starter as a commit of this repository: with this `package.json`, the product's name, and what is selected. */
function ownVersion(commit: string, selection: Selection, manifest: object, name: string, parent?: string) {
  const dir = join(folder, commit)
  requireGit(starterGit, ['worktree', 'add', '--quiet', '--detach', '--force', dir, commit])
  const version = openProject(dir)
  nameProduct(version, name)
  for (const file of version.filesBelow('.')) if (selection.isLeftOut(file)) rmSync(join(dir, file))
  writeFileSync(join(dir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  rmSync(join(dir, '.git'))
  const env = {
    GIT_INDEX_FILE: join(folder, `${commit}.index`),
    GIT_WORK_TREE: dir,
    GIT_DIR: requireGit(root, ['rev-parse', '--absolute-git-dir']),
  }
  requireGit(dir, ['add', '--all', '--force', '.'], env)
  return commitTree(requireGit(dir, ['write-tree'], env), parent)
}

/** A commit of a tree, which no branch has. */
function commitTree(tree: string, parent?: string): string {
  const author = ['-c', 'user.name=starter', '-c', 'user.email=starter@localhost']
  const parents = parent ? ['-p', parent] : []
  return requireGit(root, [...author, 'commit-tree', tree, ...parents, '-m', 'npm run update'])
}

/** What the changelog says since the base, what breaks first: whole entries, also those that were only changed. */
function changelogOf(base: string, commit: string): string {
  const entriesOf = (version: string) =>
    (git(starterGit, 'show', `${version}:CHANGELOG.md`) ?? '')
      .split(/\n+(?=- |#)/)
      .filter((entry) => entry.startsWith('- '))
  const known = new Set(entriesOf(base))
  const entries = entriesOf(commit).filter((entry) => !known.has(entry))
  const isBreaking = (entry: string) => /breaking/i.test(entry)
  return [...entries.filter(isBreaking), ...entries.filter((entry) => !isBreaking(entry))].join('\n').trim()
}

/**
 * Merges what changed between the two versions, in a branch; stages it, commits nothing, and puts the generated files in order.
 * `files` and `manifest`: what this clone had before.
 */
function apply(branch: string, commit: string, files: string[], manifest: Manifest): void {
  requireGit(root, ['switch', '--quiet', '--create', branch])
  const { failure } = run(root, 'git', ['cherry-pick', '--no-commit', commit])
  const changed = changedFiles('HEAD')
  const conflicts = changedFiles('--diff-filter=U')
  if (failure && conflicts.length === 0) throw new Error(`git cannot merge: ${failure}`)
  const isBlocked = conflicts.some((file) => /\.(ts|cjs|json)$/.test(file))
  if (!isBlocked) {
    if (packagesOf(readManifest(project)).join() !== packagesOf(manifest).join())
      report('npm install', runNpm(root, 'install', '--no-audit', '--no-fund'))
    // What only features and tests use that this product does not have.
    const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
    removeUnused(project, { files, packages })
    regenerate(project)
  }
  requireGit(root, ['add', '--all', '--', '.', ...conflicts.map((file) => `:(exclude)${file}`)])
  print('', `The branch ${branch} has ${changed.length} changed files, which are staged.`)
  if (conflicts.length > 0)
    print(
      'These are in conflict; look for <<<<<<< in them, and git add each when it is resolved:',
      ...conflicts.map((path) => `  ${path}`),
    )
  const next = isBlocked ? 'Then run npm install, npm run docs and npm test' : 'Run npm test'
  const abandon = `git switch --quiet --discard-changes - && git branch -D ${branch}`
  print(`${next}, and commit. To abandon the update: ${abandon}`)
}

const changedFiles = (...which: string[]) =>
  requireGit(root, ['diff', '--name-only', ...which])
    .split('\n')
    .filter(Boolean)

const packagesOf = ({ dependencies, devDependencies }: Manifest) =>
  Object.entries({ ...dependencies, ...devDependencies }).map((entry) => entry.join('@'))

function update(source: string | undefined, version: string | undefined, wanted: string[]): void {
  const manifest = readManifest(project)
  const { starter } = manifest
  if (!starter) throw new Error('This clone is not yours yet: run npm run init first. Nothing was changed.')
  const from = source ?? starter.source
  if (!from) throw new Error('Add the address of the starter: npm run update -- URL. Nothing was changed.')
  requireCommitted(root)
  if (!existsSync(join(root, '.git')))
    throw new Error('The product must be a Git repository, not a folder in one. Nothing was changed.')
  const commit = fetchStarter(from, version)
  const base = findBase(from, commit, starter.tree)
  const tree = requireGit(starterGit, ['rev-parse', `${commit}^{tree}`])
  if (tree === starter.tree) {
    print('This clone has everything of that version already. Nothing was changed.')
    return
  }
  const branch = `starter-${commit.slice(0, 12)}`
  if (git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`) !== null)
    throw new Error(
      `The branch ${branch} has an update to that version: merge it, or abandon it: git switch main && git branch -D ${branch}. Nothing was changed.`,
    )
  const filesOf = (dir: string, revision: string) =>
    requireGit(dir, ['ls-tree', '-r', '--name-only', revision]).split('\n')
  const ours = filesOf(root, 'HEAD')
  const files = { base: filesOf(starterGit, base), theirs: filesOf(starterGit, commit), ours }
  const selection = selectFiles(files, wanted)
  const manifestOf = (revision: string) =>
    JSON.parse(requireGit(starterGit, ['show', `${revision}:package.json`]))
  const theirs = manifestOf(commit)
  const next: Starter = { name: starter.name, version: theirs.version, tree, source: from }
  const merged = { ...mergeJson(manifestOf(base), manifest, theirs), starter: next }
  const before = ownVersion(base, selection, manifest, starter.name)
  const after = ownVersion(commit, selection, merged, starter.name, before)
  print(...(changelogOf(base, commit) || 'The changelog has nothing new.').split('\n'))
  const offered = selection.newFeatures.filter((name) => !wanted.includes(name))
  if (offered.length > 0)
    print('', `New features, which are not taken: ${offered.join(', ')}. To take them: --with NAME.`)
  apply(branch, after, ours, manifest)
}

try {
  const [source, version] = command.args
  update(source, version, command.opts<{ with: string[] }>().with)
} catch (error) {
  fail(error)
}
