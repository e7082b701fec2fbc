/**
 * `npm run feature -- price-files push-catalogue prices.csv --catalogue NAME --scope Public`: imports a price file into a catalogue, using
 * an API key. Exits with 0 only if the platform reports the import as completed, and with 2 if nobody has confirmed how the
 * file is read.
 */
import '../../runtime/env-file.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, existsSync, realpathSync, writeFileSync } from 'node:fs'
import { Option } from 'commander'
import * as z from 'zod'
import { type Api, parseJson, retry, type TokenSource } from '../../connect/index.ts'
import { acquireLease, type Key, type KeyValueStore, update } from '../../connect/stores.ts'
import { createCommand } from '../../runtime/command.ts'
import { print, printError } from '../../runtime/print.ts'
import { type Catalogues, createCatalogues } from '../catalogues/catalogues.ts'
import {
  CATALOGUE_SCOPES,
  type Catalogue,
  type NewCatalogue,
  newCatalogueSchema,
} from '../catalogues/contract.ts'
import { openByApiKey } from '../first-party/by-api-key.ts'
import { describeError } from '../first-party/describe-error.ts'
import { readBatches } from './batches.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { MAX_PROBLEMS } from './check-rows.ts'
import { audienceProblem } from './confirmation.ts'
import { type Confirmed, type FileOptions, UnconfirmedError, withConfirmed } from './confirmed.cli.ts'
import { describeStatements } from './describe.ts'
import { inTurn } from './import-turn.ts'
import { reportOf } from './report.ts'
import { type Accepted, type Progress, runImport } from './run.ts'
import { texts } from './texts.ts'

/** How long the lock of a killed run keeps the next one from looking for the catalogue, in ms. */
const LOCK_MS = 15_000
/** How long a run waits for another one that creates the catalogue, in ms: it retries for five minutes. */
const LOCK_WAIT_MS = 330_000

const interrupted = new AbortController()
const retryOptions = {
  signal: interrupted.signal,
  onWait: (reason: string) => print(`Retrying: ${reason}`),
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error('Stopped. Run the same command again to resume.')))
}

try {
  await main()
} catch (error) {
  printError(...(error instanceof z.ZodError ? z.prettifyError(error) : describeError(error)).split('\n'))
  process.exitCode = error instanceof UnconfirmedError ? 2 : 1
}

async function main(): Promise<void> {
  const { file, options } = readArguments()
  if (options.report !== undefined) truncateReport(options.report, file)
  const how = `npm run feature -- price-files push-catalogue ${file} --dry-run --save-layout layout.json`
  const { signal } = interrupted
  await withConfirmed(file, { ...options, how, signal }, async (confirmed) => {
    if (options.report !== undefined && confirmed.problems.length > 0)
      writeFileSync(options.report, reportOf(confirmed.layout, confirmed.problems))
    summarize(confirmed, options)
    if (options.dryRun) print('Nothing was sent (--dry-run).')
    else await send(confirmed, options)
  })
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

/** Says what was found. Throws if nothing can be sent. */
function summarize({ check, problems, layout }: Confirmed, options: Options): void {
  const problem = options.scope === undefined ? undefined : audienceProblem(layout, options.scope)
  if (problem) throw new Error(problem)
  for (const { line, reason } of problems.slice(0, 20)) printError(`Line ${line}: ${reason}`)
  const { rows, validRows, invalidRows } = check
  if (invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${formatCount(MAX_PROBLEMS)}`
    printError(`... and ${formatCount(invalidRows - 20)} more${hint}.`)
  }
  print(
    `Checked ${formatCount(rows)} rows: ${formatCount(validRows)} ready, ${formatCount(invalidRows)} with problems.`,
    `The file is read as ${layout.confirmedBy} confirmed on ${layout.confirmedAt}: ${describeStatements(layout)}.`,
    ...check.outline.remarks,
    ...check.remarks,
  )
  if (validRows === 0) throw new Error('This file has no valid rows.')
  if (options.strict && invalidRows > 0)
    throw new Error(`${formatCount(invalidRows)} rows have problems, so nothing was sent (--strict).`)
}

function formatCount(number: number): string {
  return number.toLocaleString('en-AU')
}

/** SHA-256 (hex) of the items. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** What the store remembers of an import until the platform has completed it. */
interface Remembered {
  batchId: string
  digest: string
  accepted: Accepted | null
}

async function send(confirmed: Confirmed, options: Options): Promise<void> {
  const { api, store, source, credential, close } = await openByApiKey(process.env, options)
  try {
    const catalogues = createCatalogues(api)
    const catalogue = await findOrCreate({ catalogues, source, store, credential }, options)
    const problem = audienceProblem(confirmed.layout, catalogue.scope)
    if (problem) throw new Error(problem)
    const key: Key = { kind: 'push', owner: credential, id: catalogue.id }
    let hasWaited = false
    const onWait = () => {
      if (!hasWaited) print(texts.sending.waitingForTurn)
      hasWaited = true
    }
    await inTurn({ store, catalogueId: catalogue.id, signal: interrupted.signal, onWait }, (signal) =>
      sendInTurn(confirmed, { api, store, source, catalogue, key, signal }),
    )
  } finally {
    await close()
  }
}

interface Sending {
  api: Api
  store: KeyValueStore
  source: TokenSource
  catalogue: Catalogue
  /** Where the store remembers how far the import has come. */
  key: Key
  signal: AbortSignal
}

/** Sends the items, or the rest of them if an earlier run with the same file was interrupted. */
async function sendInTurn(
  { check, itemsPath }: Confirmed,
  { api, store, source, catalogue, key, signal }: Sending,
): Promise<void> {
  const digest = await digestOf(itemsPath)
  const earlier = parseRemembered(await store.get(key))
  const resumed = earlier?.digest === digest
  let stored: Remembered = resumed ? earlier : { batchId: randomUUID(), digest, accepted: null }
  const { batchId, accepted } = stored
  const save = async (progress: Accepted) => {
    stored = { ...stored, accepted: progress }
    await store.set(key, JSON.stringify(stored))
  }
  await store.set(key, JSON.stringify(stored))
  print(`${resumed ? 'Resuming' : 'Starting'} import ${batchId} into "${catalogue.name}".`)

  const outcome = await runImport({
    catalogueImports: createCatalogueImports(api),
    source,
    catalogueId: catalogue.id,
    batchId,
    signal,
    batches: (skip) => readBatches(itemsPath, { total: check.validRows, skip }),
    accepted,
    save: ({ phase: _phase, processed: _processed, waiting: _waiting, ...progress }) => save(progress),
    onProgress: createProgress(check.validRows),
  })
  const completed = JSON.stringify(stored)
  await update(store, key, (value) => (value === completed ? null : value))
  const skipped =
    check.invalidRows > 0 ? ` ${formatCount(check.invalidRows)} rows had problems and were skipped.` : ''
  print(
    `Completed: ${formatCount(outcome.sent)} items in ${formatCount(outcome.batches)} ${outcome.batches === 1 ? 'batch' : 'batches'}.${skipped}`,
  )
  if (outcome.job.message) print(`Message from the platform: ${outcome.job.message.slice(0, 500)}`)
}

/** Prints how far an import is: a line for each tenth, and for each reason to wait. */
function createProgress(total: number): (progress: Readonly<Progress>) => void {
  let last = ''
  return ({ phase, sent, processed, waiting }) => {
    const isSent = phase === 'processing'
    const tenth = Math.floor(((isSent ? (processed ?? 0) : sent) / total) * 10)
    const now = `${phase} ${tenth} ${waiting}`
    if (phase === 'starting' || now === last) return
    last = now
    const count = processed === null ? 'an unknown number' : formatCount(processed)
    const how = isSent ? `All sent; the platform has processed ${count}` : `Sent ${formatCount(sent)}`
    print(`${how} of ${formatCount(total)} items.${waiting ? ` ${waiting}` : ''}`)
  }
}

/** What cannot be read counts as absent. */
function parseRemembered(value: string | null): Remembered | undefined {
  return (parseJson(value ?? '') ?? undefined) as Remembered | undefined
}

interface Options extends Pick<FileOptions, 'layout' | 'saveLayout'> {
  report?: string
  strict: boolean
  catalogue?: string
  catalogueId?: string
  scope?: NewCatalogue['scope']
  dryRun: boolean
  tenant?: string
  demo: boolean
}

function readArguments(): { file: string; options: Options } {
  const command = createCommand(
    'npm run feature -- price-files push-catalogue',
    'Imports a price file into a catalogue, using an API key.',
  )
    .argument('<file>', 'the price file (XLSX, CSV or TSV)')
    .option('--catalogue <name>', 'name of the catalogue; created if it does not exist')
    .option('--catalogue-id <id>', 'id of an existing catalogue, instead of a name')
    .addOption(
      new Option(
        '--scope <scope>',
        'visibility of a new catalogue; must match that of an existing one',
      ).choices(CATALOGUE_SCOPES),
    )
    .option('--layout <file>', 'how the file is read, as a person has confirmed it')
    .option('--save-layout <file>', 'write the layout that you confirm, or that was used, to this file')
    .option('--strict', 'send nothing if any row has a problem', false)
    .option('--report <file>', 'write every problem row to this CSV file')
    .option('--dry-run', 'check the file and send nothing', false)
    .option('--tenant <id>', 'act for this tenant; `npm run feature -- first-party tenants` lists them')
    .option('--demo', 'use the running demo, without an .env', false)
  command.parse()
  const options = command.opts<Options>()
  if (!options.catalogue && !options.catalogueId && !options.dryRun)
    command.error("error: specify the catalogue with '--catalogue <name>' or '--catalogue-id <id>'")
  return { file: command.args[0] ?? '', options }
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
  const lease = await acquireLease(store, lock, LOCK_MS, LOCK_WAIT_MS)
  if (!lease) throw new Error(`Another run is still creating the catalogue "${name}". Try again later.`)
  const find = async () => {
    const existing = await findByName(catalogues, source, name)
    if (existing) return existing
    if (!scope)
      throw new Error(`No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`)
    if (lease.lost.aborted)
      throw new Error(
        'The store was not reachable, so another run may create this catalogue. Run the command again.',
      )
    const created = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
    print(`Created catalogue "${name}" (${scope}).`)
    return created
  }
  // If the response to a create call is lost, the catalogue may exist: look it up before trying again.
  return retry(find, retryOptions).finally(() => lease.release())
}

/** Finds the catalogue with this name. Throws if there are several. */
async function findByName(
  catalogues: Catalogues,
  source: TokenSource,
  name: string,
): Promise<Catalogue | undefined> {
  const seen = new Map<string, Catalogue>()
  // A platform may return fewer than asked for: the last page is the one that brings nothing new.
  for (let before = -1; seen.size > before; ) {
    interrupted.signal.throwIfAborted()
    before = seen.size
    const { items } = await catalogues.list(source, { top: 100, skip: before })
    for (const catalogue of items) seen.set(catalogue.id, catalogue)
  }
  const found = [...seen.values()].filter((catalogue) => catalogue.name === name)
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ')
    throw new Error(`${found.length} catalogues are named "${name}". Choose one with --catalogue-id: ${ids}.`)
  }
  return found[0]
}
