/** `npm run init`: turns a clone of the starter into your product. Asks for a name and for features, or takes them as flags. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { confirm, isCancel, multiselect, text } from '@clack/prompts'
import { groupOf, groupsOf } from '../features/folders.ts'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { newSecrets } from '../runtime/dev-secrets.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { nameProduct, slugOf } from './naming.ts'
import { install, regenerate } from './programs.ts'
import { openProject, packagesOf, readManifest, writeManifest } from './project.ts'
import { isOfStarter, placesOfAll, removeAll, requireFeatures, sizeOf, withNeeded } from './removal.ts'
import { openRepository } from './repository.ts'

const features = await loadFeatures().catch(fail)
const project = openProject()
const repository = openRepository(project.root)
const NAMES = features.map(({ name }) => name)
const FOLDERS = features.map(({ folder }) => folder)
/** The features to keep by default: those outside of groups. */
const DEFAULTS = features.flatMap(({ name, folder }) => (groupOf(folder) === undefined ? [name] : []))

/** The problem with a name, or undefined. */
function problemOfName(name = ''): string | undefined {
  if (name.trim() === '') return 'enter the name of your product, such as "Acme Link"'
  if (!/^[^\p{Cc}"`<>*_[\]|\\]{1,60}$/u.test(name))
    return 'one line of at most 60 characters, without " ` < > * _ [ ] | and \\'
  const slug = slugOf(name)
  if (!/[a-z]/.test(slug)) return 'it needs a letter from A to Z, for the name of the package'
  const isPackage = packagesOf(readManifest(project)).includes(slug)
  return isPackage ? `this project uses a package named ${slug}` : undefined
}

async function askForName(): Promise<string> {
  const name = await text({ message: 'The name of your product', validate: problemOfName })
  if (isCancel(name)) throw new Error('Nothing was changed.')
  return name
}

async function askForFeatures(): Promise<string[]> {
  const alone = features.filter(({ name }) => DEFAULTS.includes(name))
  const options = alone.map((feature) => {
    const { name, title, needs = [] } = feature
    const needed = needs.length > 0 ? `; needs ${needs.join(', ')}` : ''
    return { value: name, label: name, hint: `${title}; ${sizeOf(project, feature)} files${needed}` }
  })
  // The prompt shows a hint only beside a selected option. Groups are not selected at first, so their labels explain them.
  const groups = groupsOf(FOLDERS).map((group) => ({ value: group, label: `${group} (${purposeOf(group)})` }))
  const message = 'The features to keep'
  const all = [...options, ...groups]
  const kept = await multiselect({ message, options: all, initialValues: DEFAULTS, required: false })
  if (isCancel(kept)) throw new Error('Nothing was changed.')
  return kept
}

/** The purpose of a group: the title and first paragraph of its page. */
function purposeOf(group: string): string {
  const [title = '', purpose = ''] = project.read(`docs/${group}/README.md`).split('\n\n')
  const text = `${title.replace('# ', '')}: ${purpose.charAt(0).toLowerCase()}${purpose.slice(1)}`
  return text.replaceAll('\n', ' ')
}

const ofStarter = project.filesBelow('.').filter(isOfStarter)

/** Lists the parts to delete. */
function printDeletion(removed: readonly string[]): void {
  print(
    `This deletes ${removed.map((name) => `the feature ${name}, `).join('')}${ofStarter.length} files that test, show or name the starter itself, and the files and packages that nothing uses after that.`,
  )
}

/** Throws unless the answer is yes. */
async function askForDeletion(): Promise<void> {
  const answer = await confirm({ message: 'Delete it?' })
  if (answer !== true) throw new Error('Nothing was changed.')
}

function init(name: string, removed: readonly string[]): void {
  const tree = repository.git('rev-parse', 'HEAD:./')
  print('Working. If you interrupt this command, put everything back with: git restore . && git clean -fdq .')
  const readme = productReadme(name)
  // This also deletes this command.
  removeAll(project, [...ofStarter, ...placesOfAll(FOLDERS, removed)])
  project.write('README.md', readme)
  project.write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n')
  nameProduct(project, name)
  const manifest = readManifest(project)
  writeManifest(project, {
    ...manifest,
    version: '0.1.0',
    description: `${name}: connects businesses on the platform.`,
    starter: { version: manifest.version, tree },
  })
  regenerate(project)
  install(project)
  const wroteEnv = writeEnv()
  print(
    `This clone is now ${name}. git diff shows the changes.`,
    '',
    '1. npm run demo        the app and the sandbox; it prints their addresses',
    '2. npm test            checks what is left',
    '3. Users sign in with any name; before production, see "Replace the sign-in" in the README',
    `4. ${wroteEnv ? '.env has fresh secrets; enter your credentials there' : 'There was an .env already: it is unchanged'}`,
    '5. npm run add-feature -- NAME adds a feature of your own; commit what is here first',
    ...(removed.length > 0
      ? [
          `You can bring back what you left out (${removed.join(', ')}):`,
          'npm run update -- URL --with NAME, in which URL is the address of the starter, or a folder with a clone of it',
        ]
      : []),
  )
}

/** Writes an .env with fresh secrets, unless the file exists. Returns whether it wrote the file. */
function writeEnv(): boolean {
  const file = join(project.root, '.env')
  if (existsSync(file)) return false
  let env = project
    .read('.env.example')
    .replace(
      /^(#.*\n)+/,
      '# The settings of the app on this machine; docs/configuration.md describes each.\n',
    )
  for (const [variable, value] of Object.entries(newSecrets()))
    env = env.replace(new RegExp(`^(# ?)?${variable}=.*`, 'm'), () => `${variable}=${value}`)
  writeFileSync(file, env, { mode: 0o600 })
  return true
}

/** The README of the product: its own beginning, and then the sections of the starter's README that the docs link to. */
function productReadme(name: string): string {
  const text = project.read('README.md')
  const kept = text.indexOf('\n## ', text.indexOf('\n## Make it yours') + 1)
  const beginning = project.read('src/cli/product-readme.md').replaceAll('NAME', () => name)
  return beginning + text.slice(kept).replace(/ There is no licence yet:.*/, '')
}

async function start(flags: { name?: string; features?: string; yes: boolean }): Promise<void> {
  repository.requireCommitted()
  const asks = process.stdin.isTTY && !flags.yes
  const name = flags.name ?? (asks ? await askForName() : '')
  const named = flags.features?.split(',').flatMap((entry) => entry.trim() || [])
  const kept = named?.join() === 'none' ? [] : (named ?? (asks ? await askForFeatures() : DEFAULTS))
  const problem = problemOfName(name)
  if (problem) throw new Error(`--name: ${problem}. Nothing was changed.`)
  const wanted = requireFeatures(features, kept)
  const all = withNeeded(features, wanted)
  const removed = NAMES.filter((feature) => !all.includes(feature))
  const needed = all.filter((feature) => !wanted.includes(feature))
  if (needed.length > 0) print(`Features that others need are kept as well: ${needed.join(', ')}.`)
  printDeletion(removed)
  if (asks) await askForDeletion()
  init(name.trim(), removed)
}

await createCommand('npm run init --', 'Makes this clone of the starter yours.')
  .option('--name <name>', 'the name of your product')
  .option(
    '--features <names>',
    'the features and groups to keep, with what they need, separated by commas; "none" keeps none',
  )
  .option('--yes', 'do not ask; without --features, keep the features that are in no group', false)
  .action(start)
  .parseAsync()
