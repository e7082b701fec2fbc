/** `npm run add-feature -- NAME`: adds a feature of your own that reads a list of the platform's API, with everything it needs. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { loadSandboxFeatures } from '../sandbox/load.ts'
import { PLATFORM } from '../sandbox/platform.ts'
import { regenerate, requireFormatter } from './generated.ts'
import { openProject } from './project.ts'

const features = await loadFeatures()
const sandboxFeatures = await loadSandboxFeatures()
const project = openProject(fileURLToPath(new URL('../..', import.meta.url)))
const TEMPLATE = fileURLToPath(new URL('template', import.meta.url))
const PAGES = ['list', 'detail'] as const

/** What to generate. */
interface Plan {
  /** A plural noun: `invoices`. */
  name: string
  /** One of them: `invoice`. */
  singular: string
  scope: string
  /** Below `{base_url}`. */
  path: string
  hasDetail: boolean
  canWrite: boolean
}

/** The folders of the template, and where each belongs. */
const TARGETS = (name: string) => ({
  feature: `src/features/${name}`,
  sandbox: `src/sandbox/features/${name}`,
  views: `views/${name}`,
  test: `test/features/${name}`,
})

/** Addresses and names that the app, git or Node uses for something else. */
const RESERVED = [
  'app',
  'connections',
  'contracts',
  'disconnect',
  'feature',
  'imports',
  'index',
  'public',
  'refresh',
  'sandbox',
  'test',
  'tokens',
]

/** What the code of the template and JavaScript itself call something: a feature of that name could not be told from it. */
function usedNames(): Set<string> {
  const code = ['feature', 'sandbox'].flatMap((folder) =>
    readdirSync(join(TEMPLATE, folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(TEMPLATE, folder, file), 'utf8')),
  )
  const withoutTexts = code.join('\n').replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, '')
  // Without the names of properties, which are no variables.
  const names = withoutTexts.match(/(?<![.\w])[A-Za-z]\w*(?!\w*:)/g) ?? []
  return new Set([...names, ...runInNewContext('Object.getOwnPropertyNames(globalThis)')])
}

/** Throws an error that says what to write. Nothing is changed before. */
function planOf(name: string, flags: Flags): Plan {
  const refused = (what: string) => new Error(`${what} Nothing was changed.`)
  if (!/^[a-z][a-z0-9]{1,29}$/.test(name))
    throw refused(
      `"${name}": the name must be a plural noun of 2 to 30 lower-case letters and digits, such as invoices.`,
    )
  if (RESERVED.includes(name) || isReservedWord(name))
    throw refused(`"${name}" is reserved; choose another name.`)
  const singular = flags.singular ?? name.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  if (flags.singular !== undefined && !/^[a-z][a-z0-9]*$/.test(singular))
    throw refused(`--singular "${singular}": lower-case letters and digits only, such as invoice.`)
  if (singular === name || (flags.singular === undefined && /(x|ch|sh|ss)es$/.test(name)))
    throw refused(`"${name}": Add --singular, the word for one of them, such as --singular invoice.`)
  if (isReservedWord(singular))
    throw refused(`"${singular}" is a reserved word; choose another --singular or name.`)
  const used = usedNames()
  const clash = [name, singular].find((word) => used.has(word) || used.has(capitalized(word)))
  if (clash)
    throw refused(
      `The generated code itself uses the name "${clash}"; choose ${clash === name ? 'another name' : 'another --singular'}.`,
    )
  const taken = Object.values(TARGETS(name)).find((place) => project.exists(place))
  if (taken || features.some((feature) => feature.name === name))
    throw refused(`There is a feature "${name}" already${taken ? ` (${taken})` : ''}; choose another name.`)
  const scope = flags.scope ?? name
  if (!/^[\w:.-]+$/.test(scope)) throw refused(`--scope: a scope of the platform, such as ${name}.`)
  const path = flags.path ?? `/${name}`
  if (!/^(\/[\w.-]+)+$/.test(path)) throw refused(`--path: a path below {base_url}, such as /${name}.`)
  const pages = (flags.pages ?? 'list,detail').split(',')
  const unknown = pages.find((page) => !PAGES.some((known) => known === page))
  if (unknown !== undefined || !pages.includes('list')) throw refused('--pages: list, or list,detail.')
  return { name, singular, scope, path, hasDetail: pages.includes('detail'), canWrite: flags.write }
}

/** Whether a name cannot be that of a variable, or has another meaning: `it` is the data of a page. */
function isReservedWord(name: string): boolean {
  if (name === 'it' || name in Object.prototype) return true
  try {
    new Function(`'use strict'; const ${name} = 0; return ${name}`)
    return false
  } catch {
    return true
  }
}

const capitalized = (word: string) => word[0]?.toUpperCase() + word.slice(1)

/** A file of the template as one of the feature. */
function fill(text: string, plan: Plan, file: string): string {
  const { name, singular, scope, path } = plan
  const created = plan.canWrite ? ' and create new ones' : ''
  const parts: Record<string, boolean> = {
    write: plan.canWrite,
    detail: plan.hasDetail,
    'no-detail': !plan.hasDetail,
    call: plan.canWrite || plan.hasDetail,
    scope: !isKnownScope(scope),
  }
  // Where the addresses are those of the platform's API.
  const paths = PLATFORM_PATHS.includes(file) ? /(?<=['` ])\/widgets(?=['`/,])/g : /(?!)/g
  return withParts(text, parts)
    .replaceAll(paths, path)
    .replaceAll(/(?<='to show the widgets of the business|'See your widgets)(?=')/g, created)
    .replaceAll(/'..\/..\/..\/features\/(feature|tools)\.ts'/g, "'../$1.ts'")
    .replaceAll("'../../../sandbox/", "'../../")
    .replaceAll("'../../../../test/", "'../../")
    .replaceAll("'../../../", "'../../")
    .replaceAll(/(?<=WIDGETS_SCOPE = ')widgets|(?<=the scope `)widgets|(?<=guard\(')widgets/g, scope)
    .replaceAll(/(?<=scopes: \{ )widgets/g, /^\w+$/.test(scope) ? scope : `'${scope}'`)
    .replaceAll(/\b([Aa]) (?=widget\b)/g, /^[aeiou]/.test(singular) ? '$1n ' : '$1 ')
    .replaceAll('widgets', name)
    .replaceAll('Widgets', capitalized(name))
    .replaceAll('WIDGETS', name.toUpperCase())
    .replaceAll('widget', singular)
    .replaceAll('Widget', capitalized(singular))
}

const PLATFORM_PATHS = ['feature/contract.ts', 'sandbox/index.ts']

const isKnownScope = (scope: string) =>
  [PLATFORM.scopes, ...sandboxFeatures.map((feature) => feature.scopes ?? {})].some((known) => scope in known)

/** Keeps the parts between `template: NAME` and `end of template` that are wanted, without these lines. */
function withParts(text: string, parts: Record<string, boolean>): string {
  let keep = true
  const lines = text.split('\n').filter((line) => {
    const [, part] = /(?:\/\/|\/\*) template: ([\w-]+)/.exec(line) ?? []
    if (part !== undefined) {
      keep = parts[part] ?? true
      return false
    }
    if (/(?:\/\/|\/\*) end of template/.test(line)) {
      keep = true
      return false
    }
    return keep
  })
  return lines.join('\n')
}

function writeFiles(plan: Plan): string[] {
  const written: string[] = []
  for (const [folder, target] of Object.entries(TARGETS(plan.name)))
    for (const file of readdirSync(join(TEMPLATE, folder))) {
      if (file === 'widget.eta' && !plan.hasDetail) continue
      const name = file.replace('widgets', plan.name).replace('widget', plan.singular)
      const place = join(project.root, target, name)
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(
        place,
        fill(readFileSync(join(TEMPLATE, folder, file), 'utf8'), plan, `${folder}/${file}`),
      )
      written.push(join(target, name))
    }
  return written
}

/** Adds the parts of the docs that are not generated. */
function addToDocs({ name }: Plan): void {
  const part = (text: string) => `<!-- feature: ${name} -->\n${text}\n<!-- end of feature -->\n`
  const title = capitalized(name)
  project.change(
    'docs/http-api.md',
    (text) => `${text.trimEnd()}\n\n${part(`## ${title}\n\n<!-- routes: ${name} -->\n`.trimEnd())}`,
    'has its routes',
  )
  const faults = '`500`, `429`, `stall`, `garbage`, `drop`, `expired`, `forbidden`'
  const table = `The ${name} API:\n\n| Endpoint | Faults |\n| --- | --- |\n| \`${name}\` | ${faults} |`
  project.change(
    'docs/sandbox.md',
    (text) => text.replace(ENDPOINTS, (endpoints) => `${endpoints}\n${part(table)}`),
    'has its faults',
  )
}

/** The faults of the connect flow, after which those of the features come. */
const ENDPOINTS = /\nEndpoints of the flow:\n\n(?:\|.*\n)+/

interface Flags {
  singular?: string
  scope?: string
  path?: string
  pages?: string
  write: boolean
}

const command = createCommand('add-feature', "Adds a feature that reads a list of the platform's API.")
  .argument('<name>', 'a plural noun: invoices')
  .option('--singular <word>', 'one of them (default: the name without its s)')
  .option('--scope <scope>', 'the scope that it needs (default: the name)')
  .option('--path <path>', 'the path below {base_url} (default: /NAME)')
  .option('--pages <pages>', `${PAGES.join(',')} (default), or list`)
  .option('--write', 'users can also create records', false)
  .parse()
try {
  const [name = ''] = command.args
  const plan = planOf(name, command.opts<Flags>())
  requireFormatter(project)
  if (!existsSync(TEMPLATE)) throw new Error('src/cli/template is missing: git can restore it.')
  const written = writeFiles(plan)
  addToDocs(plan)
  regenerate(project)
  print(
    `Added ${name}:`,
    ...[...written, ...project.done].map((change) => `  ${change}`),
    '',
    `npm run demo shows it: connect an account, and open ${capitalized(name)} on its card. Restart npm run sandbox if it runs, and`,
    'press "Grant missing permissions" on a connection that you have.',
    `Change the fields in src/features/${name}/contract.ts and views/${name} to those of the platform.`,
    `npm test tests it; npm run remove-feature -- ${name} --discard removes it.`,
  )
} catch (error) {
  fail(error)
}
