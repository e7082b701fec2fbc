/** `npm run add-feature -- NAME`: adds a complete feature of your own that reads a list of the platform's API. */
import { join } from 'node:path'
import { Eta } from 'eta'
import { loadContracts } from '../features/contracts.ts'
import { groupsOf } from '../features/folders.ts'
import { loadFeatures } from '../features/load.ts'
import { createCommand } from '../runtime/command.ts'
import { print } from '../runtime/print.ts'
import { regenerate } from './programs.ts'
import { openProject } from './project.ts'
import { placesOf } from './removal.ts'
import { mountedPaths } from './routes.ts'

const project = openProject()
/** The folder of the templates. Each file has the path that it will have in the project. NAME stands for the feature. */
const TEMPLATE = 'src/cli/template'

/** The values for the templates, which use them in strings, addresses and comments, but not in identifiers. */
interface Plan {
  /** For example `purchase-orders`. */
  name: string
  /** The title on pages, for example `Purchase orders`. */
  title: string
  scope: string
  /** The path below `{base_url}`. */
  path: string
  /** Whether users can create records. */
  write: boolean
}

type Flags = Omit<Partial<Plan>, 'name'>

/** Throws an error with the expected input, before any change. */
async function planOf(name: string, flags: Flags): Promise<Plan> {
  const { title = sentence(name), scope = name, path = `/${name}`, write = false } = flags
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40)
    throw refused(`"${name}": the name must be in lower case, such as invoices or purchase-orders.`)
  const folders = (await loadFeatures()).map(({ folder }) => folder)
  const place = `/connections/:bxcontext/${name}`
  const taken =
    placesOf(name, groupsOf(folders)).find(project.exists) ??
    (await mountedPaths()).find((path) => path === place || path.startsWith(`${place}/`))
  if (taken) throw refused(`"${name}" is taken (${taken}): choose another name, such as our-${name}.`)
  if (!/^[\p{L}\p{N}][\p{L}\p{N} -]{0,60}$/u.test(title))
    throw refused(`--title "${title}": letters, digits and spaces only, such as Purchase orders.`)
  if (!/^[\w:.-]+$/.test(scope)) throw refused(`--scope: a scope of the platform, such as ${name}.`)
  if (!/^(\/[\w.-]+)+$/.test(path)) throw refused(`--path: a path below {base_url}, such as /${name}.`)
  const reader = (await loadContracts()).find(({ paths }) => paths.includes(path))
  if (reader) throw refused(`${path} is an address of ${reader.file} already: choose another --path.`)
  return { name, title, scope, path, write }
}

const refused = (what: string) => new Error(`${what} Nothing was changed.`)
const words = (name: string) => name.replaceAll('-', ' ')
const sentence = (name: string) => words(name.slice(0, 1).toUpperCase() + name.slice(1))

/** Fills the templates. They use special tags, because some of them contain templates of pages. */
const eta = new Eta({ tags: ['{%', '%}'], autoEscape: false, autoTrim: false })

/** Writes the files of a feature. Returns their paths. */
function writeFiles(plan: Plan): string[] {
  const template = openProject(join(project.root, TEMPLATE))
  return template.filesBelow('.').map((file) => {
    const place = file.replace('NAME', plan.name).replace(/\.eta$/, '')
    project.write(place, eta.renderString(template.read(file), { ...plan, words: words(plan.name) }))
    return place
  })
}

async function addFeature(name: string, flags: Flags): Promise<void> {
  const plan = await planOf(name, flags)
  const written = writeFiles(plan)
  regenerate(project)
  print(
    `Added ${name}:`,
    ...written.map((file) => `  ${file}`),
    '',
    `npm run demo shows it: connect a business, and open ${plan.title} on its card. Restart npm run sandbox if it runs, and`,
    'press "Grant missing permissions" on a connection that you have.',
    `Change the fields in src/features/${name}/contract.ts and views/${name} to those of the platform.`,
    `npx vitest run --config test/vitest.config.ts test/features/${name} tests it alone; npm test tests everything.`,
    `Once it is committed, npm run remove-feature -- ${name} removes it.`,
  )
}

await createCommand('npm run add-feature --', "Adds a feature that reads a list of the platform's API.")
  .argument('<name>', 'what it lists: invoices, purchase-orders')
  .option('--title <title>', 'the title on pages (default: the name, as in Purchase orders)')
  .option('--scope <scope>', 'the scope that it needs (default: the name)')
  .option('--path <path>', 'the path below {base_url} (default: /NAME)')
  .option('--write', 'users can also create records', false)
  .action(addFeature)
  .parseAsync()
