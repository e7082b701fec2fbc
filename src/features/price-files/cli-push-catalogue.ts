/**
 * `npm run push-catalogue -- prices.csv --catalogue NAME --scope Public`: imports a price file into a catalogue, using
 * an API key. Exits with 0 only if the platform reports the import as completed.
 */
import '../../runtime/env-file.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, existsSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { InvalidArgumentError, Option } from 'commander'
import * as z from 'zod'
import type { TokenSource } from '../../connect/platform/token-source.ts'
import type { Key, KeyValueStore } from '../../connect/store/store.ts'
import { createCommand } from '../../runtime/command.ts'
import { type Catalogues, createCatalogues } from '../catalogues/catalogues.ts'
import {
  CATALOGUE_SCOPES,
  type Catalogue,
  type NewCatalogue,
  newCatalogueSchema,
} from '../catalogues/contract.ts'
import { openByApiKey } from '../first-party/by-api-key.ts'
import { describeError } from '../first-party/describe-error.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { createReporter } from './cli-reporter.ts'
import { type Columns, FIELDS, type Field } from './columns.ts'
import { batchIdSchema } from './contract.ts'
import type { Problem } from './items.ts'
import { type Check, MAX_PROBLEMS, openPriceFile } from './price-file.ts'
import { checkFile, readBatches } from './reader.ts'
import { createReport } from './report.ts'
import { retry } from './retry.ts'
import { runImport } from './run.ts'

const reporter = createReporter(process.stdout)
const interrupted = new AbortController()
const retryOptions = {
  signal: interrupted.signal,
  onWait: (reason: string) => reporter.step(`Retrying: ${reason}`),
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error('Stopped. Run the same command again to resume.')))
}

try {
  await main()
} catch (error) {
  reporter.end()
  console.error(error instanceof z.ZodError ? z.prettifyError(error) : describeError(error))
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { file, options } = readArguments()
  const { digest, check } = await checkBeforeSending(file, options)
  if (check.validRows === 0) throw new Error('This file has no valid rows.')
  if (options.strict && check.invalidRows > 0)
    throw new Error(`${formatCount(check.invalidRows)} rows have problems, so nothing was sent (--strict).`)
  if (options.dryRun) return reporter.step('Nothing was sent (--dry-run).')

  const { signal } = interrupted
  const { api, store, source, credential, close } = await openByApiKey(process.env, options)
  try {
    const catalogues = createCatalogues(api)
    const catalogue = await findOrCreate({ catalogues, source, store, credential }, options)
    // Remember the import until the platform completes it, so that running the command again resumes it.
    const key: Key = { kind: 'push', owner: credential, id: catalogue.id }
    const [earlierBatchId, earlierDigest] = (await store.get(key))?.split(' ') ?? []
    const resumed = options.batchId === undefined && earlierDigest === digest
    const batchId = options.batchId ?? ((resumed && earlierBatchId) || randomUUID())
    await store.set(key, `${batchId} ${digest}`)
    reporter.step(`${resumed ? 'Resuming' : 'Starting'} import ${batchId} into "${catalogue.name}".`)

    const outcome = await runImport({
      catalogueImports: createCatalogueImports(api),
      source,
      catalogueId: catalogue.id,
      batchId,
      signal,
      batches: readBatches(file, { columns: check.columns, signal }),
      onProgress: (progress) => reporter.progress(progress, check),
    })
    if (outcome.sent !== check.validRows)
      throw new Error(
        `The file has changed since it was checked: ${formatCount(outcome.sent)} items were sent. Run it again.`,
      )
    await store.compareAndSet(key, `${batchId} ${digest}`, null)
    reporter.end()
    const skipped =
      outcome.rejected > 0 ? ` ${formatCount(outcome.rejected)} rows had problems and were skipped.` : ''
    reporter.step(
      `Completed: ${formatCount(outcome.sent)} items in ${formatCount(outcome.batches)} ${outcome.batches === 1 ? 'batch' : 'batches'}.${skipped}`,
    )
    if (outcome.job.message) reporter.step(`Message from the platform: ${outcome.job.message.slice(0, 500)}`)
  } finally {
    await close()
  }
}

interface Options {
  catalogue?: string
  catalogueId?: string
  scope?: NewCatalogue['scope']
  map: string[]
  strict: boolean
  dryRun: boolean
  report?: string
  batchId?: string
  tenant?: string
  demo: boolean
}

function readArguments(): { file: string; options: Options } {
  const collect = (value: string, before: string[]) => [...before, value]
  const command = createCommand('push-catalogue', 'Imports a price file into a catalogue, using an API key.')
    .argument('<file>', 'the price file (CSV)')
    .option('--catalogue <name>', 'name of the catalogue; created if it does not exist')
    .option('--catalogue-id <id>', 'id of an existing catalogue, instead of a name')
    .addOption(
      new Option(
        '--scope <scope>',
        'visibility of a new catalogue; must match that of an existing one',
      ).choices(CATALOGUE_SCOPES),
    )
    .option(
      '--map <field=column>',
      `column for a field (${FIELDS.join(', ')}), by heading or number`,
      collect,
      [],
    )
    .option('--strict', 'send nothing if any row has a problem', false)
    .option('--dry-run', 'check the file and send nothing', false)
    .option('--report <file>', 'write every problem row to this CSV file')
    .option('--batch-id <id>', 'batch id of the import; use the same id to resume it', parseBatchId)
    .option('--tenant <id>', 'act for this tenant; `npm run tenants` lists them')
    .option('--demo', 'use the running demo, without an .env', false)
    .parse()
  const options = command.opts<Options>()
  if (!options.catalogue && !options.catalogueId && !options.dryRun)
    command.error("error: specify the catalogue with '--catalogue <name>' or '--catalogue-id <id>'")
  return { file: command.args[0] ?? '', options }
}

function parseBatchId(value: string): string {
  const parsed = batchIdSchema.safeParse(value)
  if (!parsed.success) throw new InvalidArgumentError(z.prettifyError(parsed.error))
  return value
}

/** Checks the whole file before anything is sent. Resolves to the result and a digest that identifies the file. */
async function checkBeforeSending(file: string, options: Options): Promise<{ digest: string; check: Check }> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${file} does not exist.`)
  if (options.report !== undefined) truncateReport(options.report, file)
  const columns = options.map.length > 0 ? await applyMappings(file, options.map) : undefined
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
    const headings = check.headings.map((heading, index) => `  ${index + 1}  ${heading}`).join('\n')
    throw new Error(
      `${check.mappingErrors.join('\n')}\nThe file's columns are:\n${headings}\nUse --map to choose, for example --map price=4.`,
    )
  }
  if (check.invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${formatCount(MAX_PROBLEMS)}`
    console.error(`... and ${formatCount(check.invalidRows - 20)} more${hint}.`)
  }
  const mappings = Object.entries(check.columns).map(
    ([field, index]) => `${field} from "${check.headings[index]}"`,
  )
  reporter.step(
    `Checked ${formatCount(check.rows)} rows: ${formatCount(check.validRows)} ready, ${formatCount(check.invalidRows)} with problems.`,
  )
  reporter.step(`Columns: ${mappings.join(', ')}.`)
  return { digest: await digestOf(file, check.columns), check }
}

/** Truncates the report of an earlier run, which would otherwise remain if this file has no problems. */
function truncateReport(report: string, file: string): void {
  if (existsSync(report) && realpathSync(report) === realpathSync(file))
    throw new Error('--report points to the price file itself and would overwrite it.')
  try {
    writeFileSync(report, '')
  } catch (error) {
    throw new Error(`--report ${report}: cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** SHA-256 (hex) of the file and its column mapping. */
async function digestOf(file: string, columns: Columns): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(columns))
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** The guessed columns, overridden by `--map`. */
async function applyMappings(file: string, choices: string[]): Promise<Columns> {
  const input = createReadStream(file)
  const { headings, guess } = await openPriceFile(input)
  input.destroy()
  const columns = { ...guess.columns }
  for (const choice of choices) {
    const [, field = '', column = ''] = /^(\w+)=(.+)$/.exec(choice) ?? []
    if (!FIELDS.includes(field as Field))
      throw new Error(`--map ${choice}: unknown field; use one of ${FIELDS.join(', ')}.`)
    const index = headings.includes(column) ? headings.indexOf(column) : Number(column) - 1
    if (!(index >= 0 && index < headings.length))
      throw new Error(`--map ${choice}: the file has no such column.`)
    for (const other of FIELDS) if (columns[other] === index) delete columns[other]
    columns[field as Field] = index
  }
  return columns
}

interface Session {
  catalogues: Catalogues
  source: TokenSource
  store: KeyValueStore
  credential: string
}

/** Finds the catalogue by id, or finds or creates it by name. Throws if its scope is not the requested one. */
async function findOrCreate(session: Session, options: Options): Promise<Catalogue> {
  const { catalogues, source } = session
  const { catalogueId: id, scope } = options
  const name = (options.catalogue ?? '').trim()
  const found =
    id === undefined
      ? await findOrCreateByName(session, name, scope)
      : await retry(() => catalogues.get(source, id), retryOptions)
  // Prices for selected builders must not end up in a catalogue that every builder can see.
  if (scope && found.scope && found.scope.toLowerCase() !== scope.toLowerCase())
    throw new Error(`The catalogue "${found.name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
  return found
}

/** Finds or creates the catalogue with this name. A lock keeps concurrent runs from creating it twice. */
async function findOrCreateByName(
  { catalogues, source, store, credential }: Session,
  name: string,
  scope: string | undefined,
) {
  const lock: Key = { kind: 'push-lock', owner: credential, id: name }
  const token = randomUUID()
  // Long enough for two calls; short enough that a killed process doesn't block the next one for long.
  while (!(await store.compareAndSet(lock, null, token, 2_000))) {
    interrupted.signal.throwIfAborted()
    await setTimeout(200)
  }
  try {
    // If the response to a create call is lost, the catalogue may exist: look it up before trying again.
    return await retry(async () => {
      const existing = await findByName(catalogues, source, name)
      if (existing) return existing
      if (!scope)
        throw new Error(
          `No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`,
        )
      const created = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
      reporter.step(`Created catalogue "${name}" (${scope}).`)
      return created
    }, retryOptions)
  } finally {
    await store.compareAndSet(lock, token, null)
  }
}

/** Finds the catalogue with this name. Throws if there are several. */
async function findByName(
  catalogues: Catalogues,
  source: TokenSource,
  name: string,
): Promise<Catalogue | undefined> {
  const seen = new Map<string, Catalogue>()
  for (let skip = 0; ; skip += 100) {
    interrupted.signal.throwIfAborted()
    const { items } = await catalogues.list(source, { top: 100, skip })
    const sizeBefore = seen.size
    for (const catalogue of items) seen.set(catalogue.id, catalogue)
    // Stop if the platform ignores $skip and returns the same page again.
    if (items.length < 100 || seen.size === sizeBefore) break
  }
  const found = [...seen.values()].filter((catalogue) => catalogue.name === name)
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ')
    throw new Error(`${found.length} catalogues are named "${name}". Choose one with --catalogue-id: ${ids}.`)
  }
  return found[0]
}

function formatCount(number: number): string {
  return number.toLocaleString('en-AU')
}
