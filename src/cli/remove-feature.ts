/**
 * `npm run remove-feature -- NAME…`: removes features with their code, views, tests, sandbox part, settings, scripts and
 * docs. Alone, it lists the features with their size.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { features } from '../features/index.ts'
import { createCommand } from '../runtime/command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIOME = join(ROOT, 'node_modules/.bin/biome')
/** Everything that belongs to a feature by its place. */
const placesOf = (name: string) => [
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
  // Tests that another feature has together with this one.
  ...features.map((other) => `test/features/${other.name}/${name}.test.ts`),
]
/** Lists with an import and an entry for each feature. */
const LISTS = ['src/features/index.ts', 'src/sandbox/features/index.ts']
/** Folders of shared code that may become unused when features are removed. */
const SHARED = /^(src\/(tables|supplier-api|web|settings|runtime|sandbox)|test\/(support|web|settings))\//
const SKIPPED = new Set(['node_modules', '.git', '.data', 'coverage'])

const done: string[] = []

function filesBelow(folder: string): string[] {
  const path = join(ROOT, folder)
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [folder]
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
    )
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** Writes a file and notes what was changed, unless nothing was. */
function change(file: string, next: (text: string) => string, what: string): void {
  const before = read(file)
  const after = next(before)
  if (after === before) return
  writeFileSync(join(ROOT, file), after)
  done.push(`${file}: ${what}`)
}

function listFeatures(): void {
  if (features.length === 0) console.log('All features are removed.')
  for (const { name, needs = [] } of features) {
    const files = placesOf(name).flatMap(filesBelow)
    const source = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
    const lines = source.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
    const size = `${String(files.length).padStart(3)} files, ${String(lines).padStart(5)} lines of source`
    console.log(`${name.padEnd(18)} ${size}${needs.length > 0 ? `   needs ${needs.join(', ')}` : ''}`)
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

function removePlaces(name: string): void {
  for (const place of placesOf(name)) {
    const count = filesBelow(place).length
    if (count === 0) continue
    rmSync(join(ROOT, place), { recursive: true })
    done.push(`${place}: deleted${count > 1 ? ` (${count} files)` : ''}`)
  }
}

/** The import line of a feature in a list, and its identifier. */
function importIn(list: string, name: string) {
  const pattern = new RegExp(`^import \\{ (\\w+) \\} from ['"]\\./${name}/index\\.ts['"];?\\r?\\n`, 'm')
  const [line, identifier] = pattern.exec(read(list)) ?? []
  return line && identifier ? { line, identifier } : null
}

function removeFromLists(name: string): void {
  for (const list of LISTS) {
    const found = importIn(list, name)
    if (!found) continue
    const entry = new RegExp(`(?<=\\[[^\\]]*)\\b${found.identifier}\\b,?\\s*`)
    change(
      list,
      (text) => text.replace(found.line, '').replace(entry, ''),
      `${found.identifier} is no longer listed`,
    )
  }
}

const START = /^\s*(?:#|\/\/|\/\*|<!--)\s*feature: ([\w-]+)/
const END = /^\s*(?:#|\/\/|\/\*|<!--)\s*end of feature\b/
const markedFiles = () =>
  filesBelow('.').filter((file) => /(\.(md|ts|css|eta|yml|yaml)|\.env\.example)$/.test(file))

/** Cuts out what is between `feature: NAME` and `end of feature`, in comments of any kind. */
function removeMarkedParts(name: string): void {
  for (const file of markedFiles())
    change(file, (text) => withoutParts(text, name), `the part about ${name} was cut out`)
}

function withoutParts(text: string, name: string): string {
  const lines = text.split('\n')
  for (let start = 0; start < lines.length; start++) {
    if (START.exec(lines[start] ?? '')?.[1] !== name) continue
    const end = lines.findIndex((line, index) => index > start && END.test(line))
    const isBetweenEmptyLines = !lines[start - 1]?.trim() && !lines[end + 1]?.trim()
    lines.splice(start, end - start + 1 + (isBetweenEmptyLines ? 1 : 0))
    start--
  }
  return lines.join('\n')
}

/** Throws, before anything is changed, if something would be cut out wrongly. */
function checkProject(names: string[]): void {
  if (!existsSync(BIOME)) throw new Error('Run npm install first: the formatter is not installed.')
  for (const name of names)
    if (!importIn(LISTS[0] as string, name))
      throw new Error(
        `${LISTS[0]} has no line "import { … } from './${name}/index.ts'". Nothing was changed.`,
      )
  for (const file of markedFiles()) {
    let open = 0
    for (const [index, line] of read(file).split('\n').entries()) {
      open += START.test(line) ? 1 : END.test(line) ? -1 : 0
      if (open < 0 || open > 1)
        throw new Error(`${file}:${index + 1}: "feature" markers must come in pairs. Nothing was changed.`)
    }
    if (open !== 0) throw new Error(`${file}: a "feature" marker has no end. Nothing was changed.`)
  }
}

function removeScripts(name: string): void {
  const manifest = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const removed = Object.keys(manifest.scripts).filter((script) =>
    manifest.scripts[script]?.includes(`src/features/${name}/`),
  )
  if (removed.length === 0) return
  for (const script of removed) delete manifest.scripts[script]
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  change('package.json', () => text, `removed npm run ${removed.join(', ')}`)
}

/** Lets `npm run check` pass although only removed features have used something: your own features may still use it. */
function tolerateUnused(): void {
  const warn = { exports: 'warn', types: 'warn', dependencies: 'warn', devDependencies: 'warn' }
  const manifest = JSON.parse(read('package.json')) as { knip: object }
  const text = `${JSON.stringify({ ...manifest, knip: { ...manifest.knip, rules: warn } }, null, 2)}\n`
  change('package.json', () => text, 'what nothing uses any more is a warning')
}

const codeFiles = () =>
  [...filesBelow('src'), ...filesBelow('test')].filter((file) => /\.(ts|cjs)$/.test(file))
const specifiersOf = (file: string) =>
  [...read(file).matchAll(/(?:from|import|import\(|new URL\()\s*\(?'([^']+)'/g)].map(([, name = '']) => name)

/** Our own files that some file imports or starts. */
function importedFiles(): Set<string> {
  const imported = new Set<string>()
  for (const file of codeFiles())
    for (const name of specifiersOf(file))
      if (name.startsWith('.')) imported.add(relative(ROOT, resolve(ROOT, dirname(file), name)))
  return imported
}

/** Deletes shared files that only removed features have imported. */
function removeUnusedFiles(importedBefore: Set<string>): void {
  for (;;) {
    const imported = importedFiles()
    const unused = [...importedBefore].filter(
      (file) => SHARED.test(file) && existsSync(join(ROOT, file)) && !imported.has(file),
    )
    if (unused.length === 0) return
    for (const file of unused) {
      rmSync(join(ROOT, file))
      done.push(`${file}: deleted, nothing else imports it`)
    }
  }
}

/** Runs a program of this project. If it fails, what it prints says why; the removal is complete. */
function run(program: string, args: string[]): void {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) console.error(`${program} ${args.join(' ')} failed: run it again.`)
}

function remove(names: string[]): void {
  checkProject(names)
  const importedBefore = importedFiles()
  for (const name of names) {
    removePlaces(name)
    removeFromLists(name)
    removeMarkedParts(name)
    removeScripts(name)
  }
  removeUnusedFiles(importedBefore)
  tolerateUnused()
  console.log(`Removed ${names.join(', ')}:\n  ${done.join('\n  ')}`)
  console.log(
    'If nothing needs a scope any more, remove it from PLATFORM_SCOPES (.env) and from src/connect/platform/contract.ts.',
  )
  run(process.execPath, ['src/cli/docs.ts'])
  run(BIOME, ['check', '--write', 'src', 'test', 'package.json'])
  console.log('Packages and exports that nothing uses any more are warnings of npm run check.')
  console.log('Run npm test to check what is left; git can undo the removal.')
}

const command = createCommand(
  'remove-feature',
  'Removes features; without a name, lists them with their size.',
)
  .argument('[names...]', 'features to remove')
  .option('--with-dependents', 'also remove the features that need them', false)
  .parse()
try {
  const { withDependents } = command.opts<{ withDependents: boolean }>()
  if (command.args.length === 0) listFeatures()
  else remove(selected(command.args, withDependents))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
