/**
 * `npm run feature -- price-files push-catalogue prices.csv --catalogue NAME --scope Public`: imports a price file into a catalogue, using
 * an API key. Exits with 0 only if the platform reports the import as completed, and with 2 if nobody has confirmed how the
 * file is read.
 */
import '../../runtime/env-file.ts'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { Option } from 'commander'
import * as z from 'zod'
import { type PageOf, parseJson, retry, sleep } from '../../connect/index.ts'
import type { Key } from '../../connect/stores.ts'
import { createCommand } from '../../runtime/command.ts'
import { print, printError } from '../../runtime/print.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import {
  CATALOGUE_SCOPES,
  type Catalogue,
  type NewCatalogue,
  newCatalogueSchema,
} from '../catalogues/contract.ts'
import { openByApiKey } from '../first-party/by-api-key.cli.ts'
import { describeError } from '../first-party/describe-error.ts'
import { batchCount, readBatch } from './batches.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { MAX_PROBLEMS } from './collector.ts'
import { type Confirmed, type FileOptions, UnconfirmedError, withConfirmed } from './confirmed.cli.ts'
import { type Progress, progressSchema } from './import.ts'
import { audienceProblem, describeAnswers } from './questions.ts'
import { reportOf } from './report.ts'
import { runImport, takeTurn } from './run.ts'
import { texts } from './texts.ts'

const stop = new AbortController()
const { signal } = stop
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error('Stopped. Run the same command again to resume.')))

async function main(): Promise<void> {
  const { file, options } = readArguments()
  if (options.report !== undefined) requireReport(options.report, file)
  const how = `npm run feature -- price-files push-catalogue ${file} --dry-run --save-layout layout.json`
  await withConfirmed(file, { ...options, how, signal }, async (confirmed) => {
    const { check, layout } = confirmed
    if (options.report !== undefined) writeFileSync(options.report, reportOf(layout, check.problems))
    summarize(confirmed, options)
    if (options.dryRun) print('Nothing was sent (--dry-run).')
    else await send(confirmed, options)
  })
}

/** Empties the report of an earlier file, before anything is asked. Throws if it cannot be written, or is the price file. */
function requireReport(report: string, file: string): void {
  if (existsSync(report) && realpathSync(report) === realpathSync(file))
    throw new Error('--report points to the price file itself and would overwrite it.')
  try {
    writeFileSync(report, '')
  } catch (error) {
    const { code = '' } = error instanceof Error && 'code' in error ? error : {}
    throw new Error(`--report ${report}: cannot be written (${code}).`)
  }
}

/** Says what was found. Throws if nothing can be sent. */
function summarize({ check, layout }: Confirmed, options: Options): void {
  const problem = options.scope === undefined ? undefined : audienceProblem(layout, options.scope)
  if (problem) throw new Error(problem)
  const ofSheet = (sheet: string) => (layout.sheets.length > 1 ? `Sheet "${sheet}", line` : 'Line')
  for (const { sheet, line, reason } of check.problems.slice(0, 20))
    printError(`${ofSheet(sheet)} ${line}: ${reason}`)
  const { rows, validRows, invalidRows } = check
  if (invalidRows > 20) {
    const hint = options.report ? '' : `; --report FILE writes the first ${formatCount(MAX_PROBLEMS)}`
    printError(`... and ${formatCount(invalidRows - 20)} more${hint}.`)
  }
  print(
    texts.confirm.counts(rows, validRows, invalidRows),
    `The file is read as it was confirmed on ${layout.confirmedAt}:`,
    ...describeAnswers(layout).map((answer) => `  ${answer}`),
    ...check.outline.remarks,
    ...check.remarks,
  )
  if (validRows === 0) throw new Error('This file has no valid rows.')
}

const formatCount = (number: number): string => number.toLocaleString('en-AU')

type Session = Awaited<ReturnType<typeof openByApiKey>>

async function send(confirmed: Confirmed, options: Options): Promise<void> {
  const session = await openByApiKey(process.env, options)
  try {
    const catalogue = await findOrCreate(session, options)
    const problem = audienceProblem(confirmed.layout, catalogue.scope)
    if (problem) throw new Error(problem)
    await inTurn(session, catalogue.id, (turn) => sendInTurn(confirmed, session, catalogue, turn))
  } finally {
    await session.close()
  }
}

/** How often a turn that another run has is tried again, in ms. */
const POLL_MS = 1_000

/** Works while no other import into the catalogue, or creation of a catalogue of this name, is running. */
async function inTurn<T>(
  { store }: Session,
  id: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const take = () => retry(() => takeTurn(store, id), { signal })
  let turn = await take()
  if (!turn) print(texts.sending.waitingForTurn)
  while (!turn) {
    await sleep(POLL_MS, signal)
    turn = await take()
  }
  const lost = new AbortController()
  turn.lost.addEventListener('abort', () =>
    lost.abort(new Error('The store was not reachable for too long. Run the same command again to resume.')),
  )
  try {
    return await work(AbortSignal.any([signal, lost.signal]))
  } finally {
    await turn.release()
  }
}

/** What the store remembers of an import until the platform has completed it. `digest`: SHA-256 (hex) of the items. */
const rememberedSchema = z.object({
  batchId: z.string(),
  digest: z.string(),
  accepted: progressSchema.nullable(),
})

/** Sends the items, or the rest of them if an earlier run with the same file was interrupted. */
async function sendInTurn(
  { check, itemsPath }: Confirmed,
  { api, store, source, credential }: Session,
  { id: catalogueId, name }: Catalogue,
  turn: AbortSignal,
): Promise<void> {
  const key: Key = { kind: 'push', owner: credential, id: catalogueId }
  const hash = createHash('sha256')
  for (let index = 0; index < batchCount(check.validRows); index++)
    hash.update(await readBatch(itemsPath, index))
  const digest = hash.digest('hex')
  // What cannot be read counts as absent.
  const earlier = rememberedSchema.safeParse(parseJson((await store.get(key)) ?? '')).data
  const isResumed = earlier?.digest === digest
  const { batchId, accepted } = isResumed ? earlier : { batchId: randomUUID(), accepted: null }
  const remember = (progress: Progress | null) =>
    store.set(key, JSON.stringify({ batchId, digest, accepted: progress }))
  await remember(accepted)
  print(`${isResumed ? 'Resuming' : 'Starting'} import ${batchId} into "${name}".`)

  const { sent, batches, job } = await runImport({
    catalogueImports: createCatalogueImports(api),
    source,
    catalogueId,
    batchId,
    signal: turn,
    items: check.validRows,
    bodyOf: (index) => readBatch(itemsPath, index),
    accepted,
    save: remember,
    onProgress: createProgress(check.validRows),
  })
  await store.delete(key)
  const skipped =
    check.invalidRows > 0 ? ` ${formatCount(check.invalidRows)} rows had problems and were skipped.` : ''
  print(
    `Completed: ${formatCount(sent)} items in ${formatCount(batches)} ${batches === 1 ? 'batch' : 'batches'}.${skipped}`,
  )
  if (job.message) print(`Message from the platform: ${job.message.slice(0, 500)}`)
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

interface Options extends Pick<FileOptions, 'layout' | 'saveLayout'> {
  report?: string
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
    .option(
      '--report <file>',
      `write the rows with problems, the first ${formatCount(MAX_PROBLEMS)}, to this CSV file`,
    )
    .option('--dry-run', 'check the file and send nothing', false)
    .option('--tenant <id>', 'act for this tenant; `npm run feature -- first-party tenants` lists them')
    .option('--demo', 'use the running demo, without an .env', false)
  command.parse()
  const options = command.opts<Options>()
  if (!options.catalogue && !options.catalogueId && !options.dryRun)
    command.error("error: specify the catalogue with '--catalogue <name>' or '--catalogue-id <id>'")
  return { file: command.args[0] ?? '', options }
}

/**
 * Finds the catalogue by its id or name, or creates it; another run does not create it at the same time. Throws if there are
 * several, or if its scope is not the requested one.
 */
function findOrCreate(session: Session, { catalogueId, catalogue = '', scope }: Options): Promise<Catalogue> {
  const { api, source, credential } = session
  const catalogues = createCatalogues(api)
  const name = catalogue.trim()
  const find = async () => {
    const matches = (found: Catalogue) => (catalogueId ? found.id === catalogueId : found.name === name)
    const [found, ...others] = (await allCatalogues(session)).filter(matches)
    if (others.length > 0)
      throw new Error(
        `Several catalogues are named "${name}". Choose one with --catalogue-id: ${[found, ...others].map((one) => one?.id).join(', ')}.`,
      )
    // Prices for selected builders must not end up in a catalogue that every builder can see.
    if (scope && found?.scope && found.scope.toLowerCase() !== scope.toLowerCase())
      throw new Error(`The catalogue "${found.name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
    if (found) return found
    if (catalogueId) throw new Error(`No catalogue has the id ${catalogueId}.`)
    if (!scope)
      throw new Error(`No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`)
    const created = await catalogues.create(source, newCatalogueSchema.parse({ name, scope }))
    print(`Created catalogue "${name}" (${scope}).`)
    return created
  }
  // If the response to a create call is lost, the catalogue may exist: look it up before trying again.
  return inTurn(session, `${credential} ${name}`, (turn) =>
    retry(find, { signal: turn, onWait: (reason) => print(`Retrying: ${reason}`) }),
  )
}

async function allCatalogues({ api, source }: Session): Promise<Catalogue[]> {
  const catalogues = createCatalogues(api)
  const seen = new Map<string, Catalogue>()
  for (let from: PageOf<Catalogue>['next'] = { skip: 0, after: '' }; from; ) {
    signal.throwIfAborted()
    const { items, next, repeated } = await catalogues.list(source, { top: 100, ...from })
    for (const catalogue of items) seen.set(catalogue.id, catalogue)
    if (repeated) print(`The platform lists only the first ${seen.size} catalogues.`)
    from = next
  }
  return [...seen.values()]
}

try {
  await main()
} catch (error) {
  printError(...(error instanceof z.ZodError ? z.prettifyError(error) : describeError(error)).split('\n'))
  process.exitCode = error instanceof UnconfirmedError ? 2 : 1
}
