/**
 * `npm run feature -- price-files push-catalogue prices.csv --catalogue NAME --choice '{…}'`: imports a price file into a catalogue,
 * using an API key. Prints what page two shows. Exits with 0 only if the platform reports the import as completed, and with 2, before
 * anything is sent, if a person has to look at it first.
 */
import '../../../runtime/env-file.ts'
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, existsSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Option } from 'commander'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { createCommand } from '../../../runtime/command.ts'
import { createLog } from '../../../runtime/log.ts'
import { print, printError } from '../../../runtime/print.ts'
import { givenOf } from '../../../settings/read.ts'
import { format } from '../../../web/kit.ts'
import { CATALOGUE_SCOPES, type Catalogue } from '../../catalogues/contract.ts'
import { type ByApiKey, openByApiKey } from '../first-party/by-api-key.cli.ts'
import { describeError } from '../first-party/describe-error.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { type Choice, choiceSchema, columnFor, MONEY } from './choice.ts'
import { fileGone } from './errors.ts'
import { filledIn, readDraft } from './form.ts'
import type { Found, Outline, Reading } from './found.ts'
import { commandUser, type Import, type Progress } from './import.ts'
import { Imports } from './imports.ts'
import { createCatalogue, findCatalogue, type TargetOptions } from './push-target.cli.ts'
import { readInProcess } from './read-in-process.ts'
import { reportOf } from './report.ts'
import { choiceArgument, comparedSentences, exampleLines, nameOf, rejectedSentences } from './sentences.ts'
import { texts } from './texts.ts'
import { stopsUnattended } from './unattended.ts'

const { count, pluralize } = format
const stop = new AbortController()
const { signal } = stop
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error('Stopped. Run the same command again to resume.')))

/** A person has to look at the file first: the command ends with 2. */
class StoppedError extends Error {}

async function main(): Promise<void> {
  const { file, options } = readArguments()
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${file} does not exist.`)
  const draft = options.choice === undefined ? null : readChoice(options.choice)
  if (options.report !== undefined) requireReport(options.report, file)
  const session = await openByApiKey(process.env, options)
  const imports = openImports(session)
  /** The imports of this run. */
  const used: Import[] = []
  const upload = async (catalogue: Catalogue) => {
    const hash = createHash('sha256')
    const ref = { userId: commandUser(session.credential), bxcontext: session.credential }
    const job = await imports.upload(ref, { catalogue, fileName: basename(file), draft }, hashed(file, hash))
    used.push(job)
    return { job, digest: hash.digest('hex') }
  }
  try {
    const catalogue = await findCatalogue(session, options, signal)
    const read = await upload(catalogue)
    await showPage(imports, read.job, options)
    const earlier = await accepted(imports, read, options)
    if (earlier) used.push(earlier)
    if (options.dryRun) return print('Nothing was sent (--dry-run).')
    if (catalogue.id !== '') return await send(imports, read.job, earlier)
    const again = await upload(await createCatalogue(session, options, signal))
    // Another run may have created it and sent something.
    await send(imports, again.job, await accepted(imports, again, options))
  } finally {
    await imports.close()
    // Those that have failed or were stopped can be resumed.
    for (const { userId, id } of used) {
      const now = await imports.get(userId, id).catch(() => null)
      if (now?.state === 'ready' || now?.state === 'completed') await imports.discard(now).catch(() => {})
    }
    await session.close()
  }
}

/** Its imports are those of the API key. */
const openImports = ({ api, apiUrl, source, store }: ByApiKey) =>
  new Imports({
    store,
    apiUrl,
    log: createLog('silent'),
    dir: join(givenOf(process.env).DATA_DIR ?? '.data', 'imports'),
    ...{ maxBytes: Infinity, quotaBytes: Infinity, totalBytes: Infinity },
    read: (task) => readInProcess(task, { signal }),
    catalogueImports: createCatalogueImports(api),
    source: () => source,
    describe: describeError,
    onProgress: createProgress(),
  })

/** The bytes of a file. */
async function* hashed(path: string, hash: Hash) {
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk)
    yield chunk
  }
}

/** Prints what page two shows, and writes the report. Throws `StoppedError` if page one is to be filled in. */
async function showPage(imports: Imports, job: Import, { report }: Options): Promise<void> {
  const reading = await imports.reading(job)
  if (!reading) throw fileGone()
  const { outline, found } = reading
  if (report !== undefined) writeFileSync(report, found ? reportOf(outline, found) : '')
  if (!found) throw pageOne(reading)
  printPage(outline, found, job)
  if (found.items === 0) throw new Error(texts.errors.noItems)
}

/** An import that has been read, and the SHA-256 (hex) of its file. */
interface Uploaded {
  job: Import
  digest: string
}

/**
 * Throws `StoppedError` if a person has to look at a file who has not. Resolves to the import of an earlier run that was interrupted
 * while it sent the same, which was looked at then; null: there is none.
 */
async function accepted(
  imports: Imports,
  { job, digest }: Uploaded,
  { accept }: Options,
): Promise<Import | null> {
  const reading = await imports.reading(job)
  if (!reading?.found) throw fileGone()
  const code = codeOf(job, digest, reading.found)
  const earlier = await interrupted(imports, job)
  const mustStop = accept === undefined ? stopsUnattended(reading) : accept !== code
  if (mustStop && !earlier) throw notAccepted(code, accept !== undefined)
  return earlier
}

/** The import of an earlier run that has not come to its end with the same items; null: there is none. */
async function interrupted(imports: Imports, job: Import): Promise<Import | null> {
  const itemsOf = async (one: Import) =>
    JSON.stringify([one.choice, await Array.fromAsync(imports.items(one))])
  for (const other of await imports.list(job)) {
    const isOpen = other.state !== 'ready' && other.state !== 'completed'
    if (!isOpen || other.catalogueId !== job.catalogueId || other.items !== job.items) continue
    const isSame = itemsOf(other).then(async (items) => items === (await itemsOf(job)))
    // Its items may be gone.
    if (await isSame.catch(() => false)) return other
  }
  return null
}

/** Sends an import, or the rest of an earlier one, to its end. Throws an error if that is not that the platform has completed it. */
async function send(imports: Imports, job: Import, earlier: Import | null): Promise<void> {
  const { isSent, job: sent } = earlier
    ? await imports.resume(earlier)
    : await imports.send(job, { seen: job.checkId, leftOut: [], confirmed: true })
  if (!isSent) throw new StoppedError('The catalogue has received something else. Run the command again.')
  print(`${earlier ? 'Resuming' : 'Starting'} import ${sent.id} into "${sent.catalogueName}".`)
  const end = () => void imports.stop(sent).catch(() => {})
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const { state, failure, problems, progress, rejected } = await imports.ended(sent)
  signal.throwIfAborted()
  if (failure !== null) throw new Error(failure)
  if (state !== 'completed' || !progress)
    throw new Error('It was interrupted. Run the same command again to resume.')
  const batches = pluralize(progress.batches, 'batch', 'batches')
  const notSent = rejected > 0 ? ` ${count(rejected)} rows were not sent.` : ''
  print(`Completed: ${count(progress.sent)} items in ${batches}.${notSent}`)
  if (problems !== null) throw new Error(problems)
}

const notAccepted = (code: string, isOther: boolean) =>
  new StoppedError(
    `${isOther ? 'Nothing was sent: the code of --accept stands for another file, choice or difference.' : 'Nothing was sent: look at what differs.'} To send exactly this, add --accept ${code}`,
  )

/** What page one asks, and the choice as far as the file or the last one fills it in. */
function pageOne({ outline, missing }: Reading): Error {
  const draft = readDraft(outline, filledIn(outline))
  const lacks: string[] = (['code', 'price'] as const).filter((use) => !columnFor(draft, use))
  if (draft.money === null) lacks.push('money')
  const answers = Object.keys(MONEY).map((answer) => JSON.stringify(answer))
  return new StoppedError(
    [
      'Nothing was sent: it is not known how this file is read.',
      ...missing.map(texts.missing),
      'The columns:',
      ...outline.columns.map(
        (one) => `  ${one.number}. ${nameOf(one)} (${texts.uses[one.use]}): ${one.samples.join(' | ')}`,
      ),
      'The page of the import prints the choice, or complete this one:',
      choiceArgument(draft),
      ...lacks.map((field) => `It lacks "${field}".`),
      'A column is {"heading":"…","number":1,"use":"code"}, and "money" is one of:',
      ...answers.map((answer) => `  ${answer}`),
    ].join('\n'),
  )
}

/** What page two shows. */
function printPage(outline: Outline, found: Found, { catalogueName, catalogueScope }: Import): void {
  const { rows, items, choice, box } = found
  const of = `${count(items)} of ${count(rows)} rows can be sent`
  print(
    ...outline.remarks.map(texts.remark),
    ...comparedSentences(found.compared),
    ...exampleLines(found),
    ...rejectedSentences(found),
    ...box.map((reason) => `! ${texts.boxReason(reason)}`),
    `${of} to "${catalogueName}" (${catalogueScope ?? 'visibility unknown'}), in ${texts.money(choice.money)}.`,
    choiceArgument(choice),
  )
}

/**
 * Stands for this file, this choice, this catalogue, what it has received, and all that page two shows. A catalogue that has received
 * nothing is known by its name, whether or not a run that was killed has created it already.
 */
function codeOf(
  { catalogueId, catalogueName, receivedRevision }: Import,
  digest: string,
  found: Found,
): string {
  const to = receivedRevision === '' ? catalogueName : catalogueId
  const all = JSON.stringify([digest, to, receivedRevision, found])
  return createHash('sha256').update(all).digest('hex').slice(0, 12)
}

/** Prints how far an import is: a line for each tenth, for each word of the platform, and for each reason to wait. */
function createProgress() {
  let last = ''
  return (
    { phase, sent, processed, platformState, waiting }: Readonly<Progress>,
    { items }: Import,
  ): void => {
    const isSent = phase === 'processing'
    const tenth = Math.floor(((isSent ? (processed ?? 0) : sent) / items) * 10)
    const now = `${phase} ${tenth} ${platformState} ${waiting}`
    if (phase === 'starting' || now === last) return
    last = now
    const done = processed === null ? 'an unknown number' : count(processed)
    const state = platformState === null ? '' : ` ("${platformState}")`
    const how = isSent ? `All sent; the platform${state} has processed ${done}` : `Sent ${count(sent)}`
    print(`${how} of ${count(items)} items.${waiting ? ` ${waiting}` : ''}`)
  }
}

/** Throws an error that names what is wrong in it. */
function readChoice(text: string): Choice {
  const json = parseJson(text)
  if (json === undefined) throw new Error('--choice is not JSON: copy it as one argument, with its quotes.')
  const parsed = choiceSchema.safeParse(json)
  if (!parsed.success) throw new Error(`--choice is not complete:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** Empties the report of an earlier file. Throws if it cannot be written, or is the price file. */
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

interface Options extends TargetOptions {
  choice?: string
  accept?: string
  report?: string
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
    .option(
      '--choice <json>',
      'how the file is read, as a page or --dry-run prints it; the last choice by default',
    )
    .option('--accept <code>', 'send what an earlier run has printed this code for')
    .option('--report <file>', 'write the rows that are not sent to this CSV file')
    .option('--dry-run', 'print what would be sent, and send nothing', false)
    .option('--tenant <id>', 'act for this tenant; `npm run feature -- first-party tenants` lists them')
    .option('--demo', 'use the running demo, without an .env', false)
  command.parse()
  const options = command.opts<Options>()
  if (!options.catalogue && !options.catalogueId)
    command.error("error: specify the catalogue with '--catalogue <name>' or '--catalogue-id <id>'")
  return { file: command.args[0] ?? '', options }
}

try {
  await main()
} catch (error) {
  printError(...(error instanceof z.ZodError ? z.prettifyError(error) : describeError(error)).split('\n'))
  process.exitCode = error instanceof StoppedError ? 2 : 1
}
