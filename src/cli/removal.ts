/** Removes features from a clone: their code, views, tests, sandbox part, settings, scripts and docs. */
import { spawnSync } from 'node:child_process'
import { dirname, join, relative, resolve } from 'node:path'
import { printError } from '../runtime/print.ts'
import { changeManifest, type Project, readManifest } from './project.ts'

/** Everything that belongs to a feature by its place. */
export const placesOf = (project: Project, name: string) => [
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
  `test/starter/texts/${name}.alone.test.ts`,
  // Tests that another feature has together with this one.
  ...project.filesBelow('test/features').filter((file) => file.split('/')[3] === `${name}.test.ts`),
]

/** What a feature is for, from the comment above it, and how large it is. */
export function describeFeature(project: Project, name: string) {
  const files = placesOf(project, name).flatMap(project.filesBelow)
  const source = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
  const lines = source.reduce((sum, file) => sum + project.read(file).split('\n').length - 1, 0)
  const index = project.read(`src/features/${name}/index.ts`)
  const [, purpose = ''] = /\/\*\* (.*?)\.? \*\/\nexport default/.exec(index) ?? []
  return { purpose, files: files.length, lines }
}

/** Folders of shared code that may become unused when features are removed. */
const SHARED = /^(src\/(tables|supplier-api|web|settings|runtime|sandbox)|test\/(support|web|settings))\//
const START = /^\s*(?:#|\/\/|\/\*|<!--)\s*feature: ([\w-]+)/
const END = /^\s*(?:#|\/\/|\/\*|<!--)\s*end of feature\b/

/**
 * Removes features, which no other one may need. Throws, before anything is changed, if something would be cut out
 * wrongly.
 */
export function removeFeatures(project: Project, names: readonly string[]): void {
  check(project)
  const importedBefore = importedFiles(project)
  const packagesBefore = namedPackages(project)
  for (const name of names) {
    for (const place of placesOf(project, name)) project.remove(place)
    removeMarkedParts(project, name)
    removeScripts(project, name)
  }
  removeUnusedFiles(project, importedBefore)
  removeUnusedPackages(project, packagesBefore)
}

function check(project: Project): void {
  for (const file of markedFiles(project)) {
    let open = 0
    for (const [index, line] of project.read(file).split('\n').entries()) {
      open += START.test(line) ? 1 : END.test(line) ? -1 : 0
      if (open < 0 || open > 1)
        throw new Error(`${file}:${index + 1}: "feature" markers must come in pairs. Nothing was changed.`)
    }
    if (open !== 0) throw new Error(`${file}: a "feature" marker has no end. Nothing was changed.`)
  }
}

const markedFiles = (project: Project) =>
  project.filesBelow('.').filter((file) => /(\.(md|ts|css|eta|yml|yaml)|\.env\.example)$/.test(file))

/** Cuts out what is between `feature: NAME` and `end of feature`, in comments of any kind. */
function removeMarkedParts(project: Project, name: string): void {
  for (const file of markedFiles(project))
    project.change(file, (text) => withoutParts(text, name), `the part about ${name} was cut out`)
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

function removeScripts(project: Project, name: string): void {
  const isOfFeature = (command: string) => command.includes(`src/features/${name}/`)
  changeManifest(
    project,
    (manifest) => ({
      ...manifest,
      scripts: Object.fromEntries(
        Object.entries(manifest.scripts).filter(([, command]) => !isOfFeature(command)),
      ),
    }),
    `the scripts of ${name} were removed`,
  )
}

const KINDS = ['exports', 'types'] as const
/** The exports that nothing uses: for each file, by kind. */
export type UnusedExports = Record<string, Partial<Record<(typeof KINDS)[number], string[]>>>

/** Asks knip. Empty, with a sentence to the user, if it cannot run. */
export function findUnusedExports(project: Project): UnusedExports {
  if (!project.exists('node_modules/.bin/knip')) return {}
  const args = ['--no-progress', '--no-exit-code', '--reporter', 'json']
  const { stdout, stderr } = spawnSync(join(project.root, 'node_modules/.bin/knip'), args, {
    cwd: project.root,
    encoding: 'utf8',
  })
  try {
    const { issues } = JSON.parse(stdout) as {
      issues: ({ file: string } & Record<(typeof KINDS)[number], { name: string }[]>)[]
    }
    return Object.fromEntries(
      issues.map((issue) => [
        issue.file,
        Object.fromEntries(KINDS.map((kind) => [kind, issue[kind].map(({ name }) => name)])),
      ]),
    )
  } catch {
    printError(`knip could not run (${stderr.trim().split('\n')[0]}): correct that, and run npm run check.`)
    return {}
  }
}

/**
 * Lets `npm run check` pass where only removed features have used an export: the export stays, for your own features and so
 * that updates find the code unchanged. `before`: what nothing used before the removal, which is still reported.
 */
export function tolerateUnusedExports(project: Project, before: UnusedExports): void {
  const unused = Object.entries(findUnusedExports(project)).flatMap(([file, found]) => {
    const kinds = KINDS.filter((kind) => found[kind]?.some((name) => !before[file]?.[kind]?.includes(name)))
    return kinds.length > 0 ? [[file, kinds] as const] : []
  })
  if (unused.length === 0) return
  changeManifest(
    project,
    (manifest) => {
      const ignored = Object.entries(manifest.knip?.ignoreIssues ?? {}).filter(
        ([file]) => file.includes('*') || project.exists(file),
      )
      const ignoreIssues = Object.fromEntries(ignored)
      for (const [file, kinds] of unused)
        ignoreIssues[file] = [...new Set([...(ignoreIssues[file] ?? []), ...kinds])]
      return { ...manifest, knip: { ...manifest.knip, ignoreIssues } }
    },
    'exports that only removed features have used may stay',
  )
}

/** Our own files that some file imports or starts. */
function importedFiles(project: Project): Set<string> {
  const { root } = project
  const files = [...project.filesBelow('src'), ...project.filesBelow('test')]
  const imported = new Set<string>()
  for (const file of files.filter((name) => /\.(ts|cjs)$/.test(name))) {
    const specifiers = project.read(file).matchAll(/(?:from|import|import\(|new URL\()\s*\(?'([^']+)'/g)
    for (const [, name = ''] of specifiers)
      if (name.startsWith('.')) imported.add(relative(root, resolve(root, dirname(file), name)))
  }
  return imported
}

/** Not looked at for names of packages: what names all of them, texts, and tests about the starter. */
const NOT_CODE = /^package(-lock)?\.json$|\.md$|^test\/starter\//

/** The packages of package.json that a file or a script of the project names. */
function namedPackages(project: Project): Set<string> {
  const named = new Set<string>()
  for (const file of project.filesBelow('.').filter((name) => !NOT_CODE.test(name)))
    for (const [, name = ''] of project.read(file).matchAll(/['"`]((?:@[\w.-]+\/)?[\w.-]+)[^'"`\n]*['"`]/g))
      named.add(name)
  for (const word of Object.values(readManifest(project).scripts).join(' ').split(/\s+/)) named.add(word)
  return named
}

/** Takes packages that only removed features have named out of package.json, with their types. */
function removeUnusedPackages(project: Project, namedBefore: Set<string>): void {
  const named = namedPackages(project)
  const { dependencies, devDependencies } = readManifest(project)
  const unused = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => {
    const code = name.replace('@types/', '')
    return namedBefore.has(code) && !named.has(code)
  })
  const used = (packages: Record<string, string>) =>
    Object.fromEntries(Object.entries(packages).filter(([name]) => !unused.includes(name)))
  changeManifest(
    project,
    (manifest) => ({
      ...manifest,
      dependencies: used(manifest.dependencies),
      devDependencies: used(manifest.devDependencies),
    }),
    `nothing uses these packages any more: ${unused.join(', ')}`,
  )
}

/** Deletes shared files that only removed features have imported. */
function removeUnusedFiles(project: Project, importedBefore: Set<string>): void {
  for (;;) {
    const imported = importedFiles(project)
    const unused = [...importedBefore].filter(
      (file) => SHARED.test(file) && project.exists(file) && !imported.has(file),
    )
    if (unused.length === 0) return
    for (const file of unused) project.remove(file)
  }
}
