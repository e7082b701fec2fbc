/**
 * `npm run update -- [URL or folder] [version]`: merges a newer version of the starter: a three-way merge of the version
 * that this clone was made from, the new version, and this clone. Both versions are made what `npm run init` made of the
 * clone, so that removed features stay away and names stay changed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { formatCode, regenerate, requireFormatter } from './generated.ts'
import { makeOwn } from './make-own.ts'
import { openProject, readManifest, type Starter } from './project.ts'
import { findUnusedExports, tolerateUnusedExports } from './removal.ts'
import { git, requireCleanTree, requireGit } from './repository.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const project = openProject(root)
/** Written by programs as a whole: taken from the new version, and written again. */
const GENERATED = ['package-lock.json', 'docs/assumptions.md']

interface Merge {
  /** The merged tree; conflicts are marked in its files. */
  tree: string
  conflicts: string[]
  /** The entries of git's index for the conflicts: `MODE OBJECT STAGE<tab>FILE`. */
  unmerged: string[]
  changed: string[]
}

const command = createCommand('update', 'Merges a newer version of the starter.')
  .argument('[source]', 'the address of the starter, or its folder (default: that of the last update)')
  .argument('[version]', 'a version, a tag or a commit (default: the newest commit)')
  .option('--dry-run', 'say what would change, and change nothing', false)
  .parse()

/** A temporary folder, removed when the process ends. */
const folder = mkdtempSync(join(tmpdir(), 'starter-update-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const starterGit = join(folder, 'starter.git')

/** Fetches the starter's history; resolves to the new commit. Throws one sentence that says what is wrong. */
function fetchStarter(source: string, version: string | undefined, base: string): string {
  const { status, stderr } = spawnSync('git', ['clone', '--quiet', '--bare', source, starterGit], {
    encoding: 'utf8',
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
  })
  if (status !== 0) throw new Error(`${source} cannot be fetched (${reasonOf(stderr)}). Nothing was changed.`)
  const commit = [version && `v${version}`, version ?? 'HEAD']
    .map((name) => name && git(starterGit, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`))
    .find(Boolean)
  if (!commit) throw new Error(`${source} has no version ${version}. Nothing was changed.`)
  if (git(starterGit, 'cat-file', '-e', `${commit}:src/connect/index.ts`) === null)
    throw new Error(
      `${version ? `${version} of ${source}` : source} is not a Connect Starter. Nothing was changed.`,
    )
  if (git(starterGit, 'cat-file', '-e', `${base}^{commit}`) === null)
    throw new Error(
      `${source} does not have the commit ${base.slice(0, 12)}, from which this clone was made. Nothing was changed.`,
    )
  return commit
}

/** The line of git's messages that says why it failed. */
function reasonOf(stderr: string): string {
  const lines = stderr.trim().split('\n')
  return lines.find((line) => /^(ssh|fatal|remote|error):/.test(line)) ?? lines.at(-1) ?? ''
}

/** A version of the starter as a commit of this repository, made what `npm run init` made of this clone. */
function ownVersion(commit: string, starter: Starter, parent?: string): string {
  const dir = join(folder, commit)
  requireGit(starterGit, ['worktree', 'add', '--quiet', '--detach', '--force', dir, commit])
  const version = openProject(dir)
  const removed = starter.removed.filter((name) => version.exists(`src/features/${name}/index.ts`))
  makeOwn(version, { ...starter, commit, version: readManifest(version).version, removed })
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  // As this clone was formatted; a version with other rules is compared as it is.
  formatCode(version)
  rmSync(join(dir, 'node_modules'))
  rmSync(join(dir, '.git'))
  const env = { GIT_INDEX_FILE: join(folder, `${commit}.index`), GIT_WORK_TREE: dir, GIT_DIR: gitDir() }
  requireGit(dir, ['add', '--all', '--force', '.'], env)
  const tree = requireGit(dir, ['write-tree'], env)
  return commitTree(tree, parent)
}

/** A commit of a tree, which no branch has. */
function commitTree(tree: string, parent?: string): string {
  const author = ['-c', 'user.name=starter', '-c', 'user.email=starter@localhost']
  const parents = parent ? ['-p', parent] : []
  return requireGit(root, [...author, 'commit-tree', tree, ...parents, '-m', 'npm run update'])
}

const gitDir = () => requireGit(root, ['rev-parse', '--absolute-git-dir'])

function mergeOf(base: string, theirs: string): Merge {
  // This clone need not share the starter's history: for the merge, it comes from the base.
  const ours = commitTree('HEAD^{tree}', base)
  // The marks of a conflict have these names.
  const sides = { 'update/yours': ours, 'update/starter': theirs }
  for (const [name, commit] of Object.entries(sides)) requireGit(root, ['update-ref', `refs/${name}`, commit])
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['merge-tree', '--write-tree', '--no-messages', ...Object.keys(sides)],
    { cwd: root, encoding: 'utf8', maxBuffer: 200_000_000 },
  )
  for (const name of Object.keys(sides)) requireGit(root, ['update-ref', '-d', `refs/${name}`])
  if (status === null || status > 1)
    throw new Error(
      `git cannot merge: it must be version 2.38 or newer (${stderr.trim()}). Nothing was changed.`,
    )
  const [tree = '', ...entries] = stdout.trim().split('\n')
  const fileOf = (entry: string) => entry.split('\t')[1] ?? ''
  const unmerged = entries.filter((entry) => !GENERATED.includes(fileOf(entry)))
  const changed = requireGit(root, ['diff', '--name-only', 'HEAD', tree]).split('\n').filter(Boolean)
  return { tree, conflicts: [...new Set(unmerged.map(fileOf))], unmerged, changed }
}

/** Marks the conflicts as unmerged, as `git merge` does: git commits them only after `git add`. */
function markUnmerged({ conflicts, unmerged }: Merge): void {
  if (conflicts.length === 0) return
  requireGit(root, ['update-index', '--force-remove', '--', ...conflicts])
  const { status, stderr } = spawnSync('git', ['update-index', '--index-info'], {
    cwd: root,
    encoding: 'utf8',
    input: `${unmerged.join('\n')}\n`,
  })
  if (status !== 0) throw new Error(`git update-index failed: ${stderr.trim()}`)
}

/** What the changelog says since the base, what breaks first: whole entries, also those that were only changed. */
function changelogOf(base: string, commit: string): string {
  const entriesOf = (version: string) =>
    (git(starterGit, 'show', `${version}:CHANGELOG.md`) ?? '')
      .replace(/^<!--.*-->\n/gm, '')
      .split(/\n+(?=- |#)/)
      .filter((entry) => entry.startsWith('- '))
  const known = new Set(entriesOf(base))
  const entries = entriesOf(commit).filter((entry) => !known.has(entry))
  const isBreaking = (entry: string) => /breaking/i.test(entry)
  return [...entries.filter(isBreaking), ...entries.filter((entry) => !isBreaking(entry))].join('\n').trim()
}

/** An update that was given up leaves its branch. */
function unusedBranch(name: string): string {
  const exists = (branch: string) =>
    git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`) !== null
  let number = 1
  while (exists(number === 1 ? name : `${name}-${number}`)) number++
  return number === 1 ? name : `${name}-${number}`
}

/** Throws if an earlier update is neither committed nor discarded. */
function requireNoUpdate(): void {
  const branch = git(root, 'branch', '--show-current') ?? ''
  if (!/^starter-[0-9a-f]{12}(-\d+)?$/.test(branch) || !git(root, 'status', '--porcelain')) return
  throw new Error(
    `An update is in progress on the branch ${branch}: commit it, or discard it with git switch --quiet --discard-changes - && git branch -D ${branch}. Nothing was changed.`,
  )
}

/** Puts the merge into a branch, and the generated files in order. */
function apply(merge: Merge, theirs: string, commit: string): void {
  const unusedBefore = findUnusedExports(project)
  const branch = unusedBranch(`starter-${commit.slice(0, 12)}`)
  requireGit(root, ['switch', '--quiet', '--create', branch])
  requireGit(root, ['restore', `--source=${merge.tree}`, '--staged', '--worktree', ':/'])
  for (const file of GENERATED)
    if (git(root, 'cat-file', '-e', `${theirs}:${file}`) !== null && project.exists(file))
      requireGit(root, ['restore', `--source=${theirs}`, '--staged', '--worktree', '--', file])
  const blocking = merge.conflicts.filter((file) => /^(src|package\.json)/.test(file))
  if (blocking.length === 0) {
    // The packages change only with those of package.json.
    const changesPackages =
      merge.changed.includes('package.json') && packagesOf('HEAD') !== packagesOf(merge.tree)
    spawnSync('npm', ['install', ...(changesPackages ? [] : ['--package-lock-only'])], {
      cwd: root,
      stdio: 'ignore',
    })
    regenerate(project)
    tolerateUnusedExports(project, unusedBefore)
  }
  requireGit(root, ['add', '--all'])
  markUnmerged(merge)
  print('', `The branch ${branch} has ${merge.changed.length} changed files, which are staged.`)
  if (merge.conflicts.length > 0)
    print(
      'These are in conflict; look for <<<<<<< in them, and git add each when it is resolved:',
      ...merge.conflicts.map((path) => `  ${path}`),
    )
  else if (!check())
    print(
      'npm run check reports problems, such as a name that the starter has changed and your code uses: correct them, and run npm run docs.',
    )
  const next = blocking.length > 0 ? 'Then run npm install, npm run docs and npm test' : 'Run npm test'
  print(
    `${next}, and commit. To abandon the update: git switch --quiet --discard-changes - && git branch -D ${branch}`,
  )
}

/** The packages of a version, as text to compare. */
function packagesOf(tree: string): string {
  const { dependencies, devDependencies } = JSON.parse(requireGit(root, ['show', `${tree}:package.json`]))
  return JSON.stringify([dependencies, devDependencies])
}

const check = () =>
  spawnSync('npm', ['run', '--silent', 'check'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    .status === 0

function update(source: string | undefined, version: string | undefined, dryRun: boolean): void {
  const { starter } = readManifest(project)
  if (!starter) throw new Error('This clone is not yours yet: run npm run init first. Nothing was changed.')
  if (!starter.commit)
    throw new Error(
      'package.json does not say from which commit of the starter this clone was made (starter.commit). Nothing was changed.',
    )
  const from = source ?? starter.source
  if (!from) throw new Error('Add the address of the starter: npm run update -- URL. Nothing was changed.')
  requireFormatter(project)
  if (!existsSync(join(root, '.git')))
    throw new Error('This is not a Git repository: run git init, and commit. Nothing was changed.')
  requireNoUpdate()
  requireCleanTree(root)
  const commit = fetchStarter(from, version, starter.commit)
  if (commit === starter.commit) {
    print('This clone has everything of that version already. Nothing was changed.')
    return
  }
  if (git(starterGit, 'merge-base', '--is-ancestor', commit, starter.commit) !== null)
    throw new Error('That version is older than the one that this clone was made from. Nothing was changed.')
  const base = ownVersion(starter.commit, starter)
  const theirs = ownVersion(commit, { ...starter, source: from }, base)
  const merge = mergeOf(base, theirs)
  print(...changelogOf(starter.commit, commit).split('\n'))
  if (!dryRun) apply(merge, theirs, commit)
  else
    print(
      '',
      `${merge.changed.length} files would change, and ${merge.conflicts.length} would be in conflict${merge.conflicts.length > 0 ? ':' : '.'}`,
      ...merge.conflicts.map((path) => `  ${path}`),
      'Nothing was changed.',
    )
}

try {
  const [source, version] = command.args
  update(source, version, command.opts<{ dryRun: boolean }>().dryRun)
} catch (error) {
  fail(error)
}
