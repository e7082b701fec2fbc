/**
 * `npm run update -- [URL or folder] [version]`: fetches a newer version of the starter. Then it runs the `update-product.ts` of
 * that version, because its rules are newer than those of this clone.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createCommand } from '../runtime/command.ts'
import { fail } from '../runtime/serve.ts'
import { run, show, temporaryFolder } from './programs.ts'
import { openProject, readManifest } from './project.ts'
import { git, requireGit } from './repository.ts'

const project = openProject()

/**
 * Fetches a version of the starter, with its history, into a folder. If git fails, throws an error with git's message, in which the
 * address has no password.
 */
function fetchStarter(source: string, version: string | undefined, folder: string): void {
  const env = { GIT_TERMINAL_PROMPT: '0' }
  const clone = ['clone', '--quiet', '--no-checkout', '--', source, folder]
  const { failure } = run(project.root, 'git', clone, { env })
  if (failure) throw new Error(`The starter cannot be fetched: ${failure}\nNothing was changed.`)
  const commit = [`v${version}`, version ?? 'HEAD', `origin/${version}`]
    .map((name) => git(folder, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`))
    .find(Boolean)
  if (!commit) throw new Error(`The starter has no version ${version ?? 'yet'}. Nothing was changed.`)
  requireGit(folder, ['checkout', '--quiet', '--detach', commit])
}

/** Runs the updater of the version that was fetched, and exits with its exit code. */
function update(source: string | undefined, version: string | undefined, options: { with: string[] }): void {
  const { starter } = readManifest(project)
  if (!starter) throw new Error('This clone is not yours yet: run npm run init first. Nothing was changed.')
  const from = source ?? starter.source
  if (!from) throw new Error('Add the address of the starter: npm run update -- URL. Nothing was changed.')
  const folder = temporaryFolder()
  fetchStarter(from, version, folder)
  const updater = join(folder, 'src/cli/update-product.ts')
  if (!existsSync(updater)) throw new Error('That version of the starter is too old. Nothing was changed.')
  process.exitCode = show(project.root, process.execPath, [updater, project.root, from, ...options.with])
}

await createCommand('npm run update --', 'Merges a newer version of the starter, in a branch.')
  .argument('[source]', 'the address of the starter, or its folder (default: the one of the last update)')
  .argument('[version]', 'a version, a tag or a commit (default: the newest commit)')
  .option('--with <names...>', 'take these new features of the starter', [])
  .action(update)
  .parseAsync()
  .catch(fail)
