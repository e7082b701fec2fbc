/** `npm run add-feature -- NAME`: adds a feature of your own that reads a list of the platform's API, with everything it needs. */
import { globSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { fail } from '../runtime/serve.ts'
import { regenerate } from './programs.ts'
import { openProject } from './project.ts'
import { placesOf } from './removal.ts'

const project = openProject()
const TEMPLATE = 'src/cli/template'

/** What to generate. Each is a word of the template, in strings, addresses and comments: no identifier is made of them. */
interface Plan {
  /** A plural noun: `purchase-orders`. */
  name: string
  /** On pages: `Purchase orders`. */
  title: string
  /** One of them, in a text: `purchase order`. */
  singular: string
  scope: string
  /** Below `{base_url}`. */
  path: string
  canWrite: boolean
}

interface Flags {
  title?: string
  singular?: string
  scope?: string
  path?: string
  write: boolean
}

/** Where each folder of the template belongs. */
const targetsOf = (name: string) => ({
  feature: `src/features/${name}`,
  sandbox: `src/sandbox/features/${name}`,
  views: `views/${name}`,
  test: `test/features/${name}`,
  docs: 'docs',
})

/** Throws an error that says what to write. Nothing is changed before. */
function planOf(name: string, flags: Flags): Plan {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw refused(
      `"${name}": the name must be a plural noun in lower case, such as invoices or purchase-orders.`,
    )
  const taken = placesOf(name).find(project.exists) ?? routeOf(name)
  if (taken) throw refused(`"${name}" is taken (${taken}): choose another name, such as our-${name}.`)
  const words = name.replaceAll('-', ' ')
  const { title = capitalized(words), scope = name, path = `/${name}` } = flags
  if (!WORDS.test(title))
    throw refused(`--title "${title}": letters, digits and spaces only, such as Purchase orders.`)
  if (!/^[\w:.-]+$/.test(scope)) throw refused(`--scope: a scope of the platform, such as ${name}.`)
  if (!/^(\/[\w.-]+)+$/.test(path)) throw refused(`--path: a path below {base_url}, such as /${name}.`)
  const simulated = simulatedIn(path)
  if (simulated) throw refused(`The sandbox has ${path} already (${simulated}): choose another --path.`)
  const singular = flags.singular ?? singularOf(words)
  if (singular === undefined)
    throw refused(
      `"${name}": the name must be a plural noun. If it is one, add the word for one of them: --singular invoice.`,
    )
  if (!WORDS.test(singular)) throw refused(`--singular "${singular}": letters, digits and spaces only.`)
  return { name, title, singular: singular.replaceAll('-', ' '), scope, path, canWrite: flags.write }
}

const refused = (what: string) => new Error(`${what} Nothing was changed.`)
const WORDS = /^[\p{L}\p{N}][\p{L}\p{N} -]{0,60}$/u
const capitalized = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1)

/** One of a regular plural. Undefined if that is not certain: `statuses`, `movies`, `leaves`, `news`. */
const singularOf = (words: string) =>
  /(ies|ves|oes|[sxz]es|[cs]hes|[aiosuw]s|[^s])$/.test(words) ? undefined : words.slice(0, -1)

/** The file with this route of a connection, if there is one. */
const routeOf = (name: string) => fileWith('src/{web,features/*}/*.ts', `/:bxcontext/${name}'`)

/** The file in which the sandbox guards this path of the API, if there is one. */
const simulatedIn = (path: string) => fileWith('src/sandbox/features/**/*.ts', `'${path}', ...`)

const fileWith = (pattern: string, words: string) =>
  globSync(pattern, { cwd: project.root }).find((file) => project.read(file).includes(words))

/** A file of the template, which is about spare parts, as one of the feature. */
function fill(template: string, { name, title, singular, scope, path, canWrite }: Plan): string {
  return withoutParts(template, canWrite)
    .replaceAll("'../../../features/", "'../")
    .replaceAll("'../../../sandbox/", "'../../")
    .replaceAll("'../../../../test/", "'../../")
    .replaceAll("'../../../", "'../../")
    .replaceAll('/spare/parts', path)
    .replaceAll('spare_parts', scope)
    .replaceAll('spare-parts', name)
    .replaceAll('Spare parts', title)
    .replaceAll('spare parts', name.replaceAll('-', ' '))
    .replaceAll('Spare part', capitalized(singular))
    .replaceAll('spare part', singular)
}

const PART = /^.*\/[/*] template: write\b[\s\S]*?\/[/*] end of template\b.*\n/gm
const WORDS_OF_WRITING = /,? and (?:to )?create new ones/g
const MARK = /^.*\/[/*] (?:template: write|end of template)\b.*\n/gm

/** Without the marks of what is for writing; unless that is wanted, without it, and without its words. */
const withoutParts = (template: string, canWrite: boolean) =>
  canWrite ? template.replaceAll(MARK, '') : template.replaceAll(PART, '').replaceAll(WORDS_OF_WRITING, '')

function writeFiles(plan: Plan): string[] {
  return Object.entries(targetsOf(plan.name)).flatMap(([folder, target]) =>
    globSync('*', { cwd: join(project.root, TEMPLATE, folder) }).map((file) => {
      const place = join(target, file.replace('spare-parts', plan.name))
      mkdirSync(dirname(join(project.root, place)), { recursive: true })
      project.write(place, fill(project.read(join(TEMPLATE, folder, file)), plan))
      return place
    }),
  )
}

const command = createCommand(
  'npm run add-feature --',
  "Adds a feature that reads a list of the platform's API.",
)
  .argument('<name>', 'a plural noun: invoices, purchase-orders')
  .option('--title <title>', 'on pages (default: the name: Purchase orders)')
  .option(
    '--singular <word>',
    'one of them, such as invoice (default: the name without its s, if that is certain)',
  )
  .option('--scope <scope>', 'the scope that it needs (default: the name)')
  .option('--path <path>', 'the path below {base_url} (default: /NAME)')
  .option('--write', 'users can also create records', false)
  .parse()
try {
  const plan = planOf(command.args[0] ?? '', command.opts<Flags>())
  const { name, title } = plan
  const written = writeFiles(plan)
  regenerate(project)
  print(
    `Added ${name}:`,
    ...written.map((file) => `  ${file}`),
    '',
    `npm run demo shows it: connect an account, and open ${title} on its card. Restart npm run sandbox if it runs, and`,
    'press "Grant missing permissions" on a connection that you have.',
    `Change the fields in src/features/${name}/contract.ts and views/${name} to those of the platform.`,
    `npm test tests it; once it is committed, npm run remove-feature -- ${name} removes it.`,
  )
} catch (error) {
  fail(error)
}
