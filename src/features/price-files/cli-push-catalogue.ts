/**
 * `npm run push-catalogue -- prices.csv --catalogue NAME --scope Public`: a price file into a catalogue, by API key.
 * Exits 0 only when the platform says that the import is completed.
 */
import '../../runtime/env-file.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, existsSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { batchIdSchema, type Catalogue, newCatalogueSchema } from '../../connect/platform/contract.ts'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Key, Store } from '../../connect/store/store.ts'
import { type Catalogues, createCatalogues } from '../catalogues/catalogues.ts'
import { explain, openByApiKey } from '../first-party/by-api-key.ts'
import { createReporter } from './cli-reporter.ts'
import { type Columns, FIELDS, type Field } from './columns.ts'
import type { Problem } from './items.ts'
import { type Check, MAX_PROBLEMS, openPriceFile } from './price-file.ts'
import { checkFile, readBatches } from './reader.ts'
import { createReport } from './report.ts'
import { patiently, runImport } from './run.ts'

const USAGE = `Usage: npm run push-catalogue -- FILE.csv --catalogue NAME [options]
  --catalogue NAME      the catalogue's name; it is created if there is none of that name
  --catalogue-id ID     or the id of one that exists
  --scope SCOPE         Public or Managed: what a new catalogue becomes; checked when it exists
  --map FIELD=COLUMN    which column holds a field (${FIELDS.join(', ')}), by heading or number; may be repeated
  --strict              send nothing if any row has a problem
  --dry-run             check the file and send nothing
  --report FILE         write every problem row to this CSV file
  --batch-id ID         the import's batch id; the same id again resumes it (an interrupted run is resumed anyway)
  --tenant ID           act for this tenant; \`npm run tenants\` lists them`

const reporter = createReporter(process.stdout)
const interrupted = new AbortController()
const patience = {
  signal: interrupted.signal,
  onWait: (reason: string) => reporter.step(`Trying again: ${reason}`),
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () =>
    interrupted.abort(new Error('Stopped. Run the same command again to go on where it was.')),
  )
}

try {
  await main()
} catch (error) {
  reporter.end()
  console.error(error instanceof z.ZodError ? z.prettifyError(error) : explain(error))
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { file, options } = readArguments()
  const { digest, check } = await checked(file, options)
  if (check.validRows === 0) throw new Error('No row can be sent.')
  if (options.strict && check.invalidRows > 0)
    throw new Error(`${count(check.invalidRows)} rows have problems, so nothing was sent (--strict).`)
  if (options['dry-run']) return reporter.step('Nothing was sent (--dry-run).')

  const { signal } = interrupted
  const { api, store, source, credential, close } = await openByApiKey(process.env, options.tenant)
  try {
    const catalogues = createCatalogues(api)
    const catalogue = await findOrCreate({ catalogues, source, store, credential }, options)
    // Until the platform has completed it, the import of this very file is remembered, to be resumed.
    const key: Key = { kind: 'push', owner: credential, id: String(catalogue.id) }
    const [earlier, from] = (await store.get(key))?.split(' ') ?? []
    const resumed = options['batch-id'] === undefined && from === digest
    const batchId = options['batch-id'] ?? ((resumed && earlier) || randomUUID())
    await store.set(key, `${batchId} ${digest}`)
    reporter.step(`${resumed ? 'Resuming' : 'Starting'} import ${batchId} into "${catalogue.name}".`)

    const outcome = await runImport({
      ...{ catalogues, source, catalogueId: String(catalogue.id), batchId, signal },
      batches: readBatches(file, { columns: check.columns, signal }),
      onProgress: (progress) => reporter.progress(progress, check),
    })
    if (outcome.sent !== check.validRows)
      throw new Error(
        `The file has changed since it was checked: ${count(outcome.sent)} items were sent. Run it again.`,
      )
    await store.compareAndSet(key, `${batchId} ${digest}`, null)
    reporter.end()
    const left =
      outcome.rejected > 0 ? ` ${count(outcome.rejected)} rows had problems and were left out.` : ''
    reporter.step(`Completed: ${count(outcome.sent)} items in ${count(outcome.batches)} batches.${left}`)
    if (outcome.job.message) reporter.step(`The platform says: ${outcome.job.message.slice(0, 500)}`)
  } finally {
    await close()
  }
}

function readArguments() {
  const string = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        ...{ catalogue: string, 'catalogue-id': string, scope: string, 'batch-id': string, tenant: string },
        ...{ report: string, map: { type: 'string', multiple: true, default: [] } },
        ...{ strict: flag, 'dry-run': flag, help: flag },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const [file, ...more] = positionals
    if (!file || more.length > 0) throw new Error('Name one price file.')
    if (!values.catalogue && !values['catalogue-id'] && !values['dry-run'])
      throw new Error('Name the --catalogue.')
    if (values.scope) newCatalogueSchema.shape.scope.parse(values.scope)
    if (values['batch-id']) batchIdSchema.parse(values['batch-id'])
    return { file, options: values }
  } catch (error) {
    const words = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new Error(`${words}\n\n${USAGE}`)
  }
}

type Options = ReturnType<typeof readArguments>['options']

/** Reads the whole file once before anything is sent: what will go, what will not, and which file it is. */
async function checked(file: string, options: Options): Promise<{ digest: string; check: Check }> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${file}.`)
  if (options.report !== undefined) emptyReport(options.report, file)
  const columns = options.map.length > 0 ? await mapped(file, options.map) : undefined
  const report = options.report === undefined ? undefined : createReport(options.report)
  let shown = 0
  const onProblem = async (problem: Problem, headings: string[]) => {
    if (shown++ < 20) console.error(`Line ${problem.line}: ${problem.reason}`)
    await report?.add(problem, headings)
  }
  const { signal } = interrupted
  const check = await checkFile(file, { ...(columns && { columns }), onProblem, signal })
  await report?.end()
  if (check.mappingErrors.length > 0) {
    const headings = check.headings.map((heading, at) => `  ${at + 1}  ${heading}`).join('\n')
    throw new Error(
      `${check.mappingErrors.join('\n')}\nThe file's columns are\n${headings}\nChoose with --map, for example --map price=4.`,
    )
  }
  if (check.invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${count(MAX_PROBLEMS)}`
    console.error(`... and ${count(check.invalidRows - 20)} more${hint}.`)
  }
  const names = Object.entries(check.columns).map(([field, at]) => `${field} from "${check.headings[at]}"`)
  reporter.step(
    `Checked ${count(check.rows)} rows: ${count(check.validRows)} can go, ${count(check.invalidRows)} have problems.`,
  )
  reporter.step(`Columns: ${names.join(', ')}.`)
  return { digest: await digestOf(file, check.columns), check }
}

/** An empty report in place of an earlier one, so that it says nothing when there is nothing to say. */
function emptyReport(report: string, file: string): void {
  if (existsSync(report) && realpathSync(report) === realpathSync(file))
    throw new Error('--report names the price file itself, and would replace it.')
  try {
    writeFileSync(report, '')
  } catch (error) {
    throw new Error(`--report ${report}: cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Which file it is, and how it is read. */
async function digestOf(file: string, columns: Columns): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(columns))
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** `--map` over what the headings suggest. */
async function mapped(file: string, choices: string[]): Promise<Columns> {
  const input = createReadStream(file)
  const { headings, guess } = await openPriceFile(input)
  input.destroy()
  const columns = { ...guess.columns }
  for (const choice of choices) {
    const [, field = '', column = ''] = /^(\w+)=(.+)$/.exec(choice) ?? []
    if (!FIELDS.includes(field as Field))
      throw new Error(`--map ${choice}: the fields are ${FIELDS.join(', ')}.`)
    const at = headings.includes(column) ? headings.indexOf(column) : Number(column) - 1
    if (!(at >= 0 && at < headings.length)) throw new Error(`--map ${choice}: the file has no such column.`)
    for (const other of FIELDS) if (columns[other] === at) delete columns[other]
    columns[field as Field] = at
  }
  return columns
}

interface Place {
  catalogues: Catalogues
  source: TokenSource
  store: Store
  credential: string
}

async function findOrCreate(place: Place, options: Options): Promise<Catalogue> {
  const { catalogues, source } = place
  const { 'catalogue-id': id, scope } = options
  const name = (options.catalogue ?? '').trim()
  const found =
    id === undefined
      ? await byName(place, name, scope)
      : await patiently(() => catalogues.get(source, id), patience)
  // A price list that is meant for some must not land where all can see it.
  if (scope && found.scope && found.scope.toLowerCase() !== scope.toLowerCase())
    throw new Error(`The catalogue "${found.name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
  return found
}

/** The catalogue of a name; created if there is none, by one process at a time. */
async function byName(
  { catalogues, source, store, credential }: Place,
  name: string,
  scope: string | undefined,
) {
  const lock: Key = { kind: 'push-lock', owner: credential, id: name }
  const mine = randomUUID()
  // Long enough for the two calls, and short for whoever comes after one that was killed.
  while (!(await store.compareAndSet(lock, null, mine, 2_000))) {
    interrupted.signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  try {
    // A creation whose answer was lost is not repeated before it was looked for.
    return await patiently(async () => {
      const there = await find(catalogues, source, name)
      if (there) return there
      if (!scope)
        throw new Error(
          `There is no catalogue "${name}". To create it, say --scope Public or --scope Managed.`,
        )
      const created = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
      reporter.step(`Created the catalogue "${name}" (${scope}).`)
      return created
    }, patience)
  } finally {
    await store.compareAndSet(lock, mine, null)
  }
}

async function find(
  catalogues: Catalogues,
  source: TokenSource,
  name: string,
): Promise<Catalogue | undefined> {
  const seen = new Map<string, Catalogue>()
  for (let skip = 0; ; skip += 100) {
    interrupted.signal.throwIfAborted()
    const { items } = await catalogues.list(source, { top: 100, skip })
    const before = seen.size
    for (const catalogue of items) seen.set(String(catalogue.id), catalogue)
    // A platform that does not know $skip would tell the same page for ever.
    if (items.length < 100 || seen.size === before) break
  }
  const found = [...seen.values()].filter((catalogue) => catalogue.name === name)
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ')
    throw new Error(`There are ${found.length} catalogues "${name}". Choose one with --catalogue-id: ${ids}.`)
  }
  return found[0]
}

function count(number: number): string {
  return number.toLocaleString('en-AU')
}
