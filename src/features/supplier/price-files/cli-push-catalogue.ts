/**
 * `npm run feature -- price-files push-catalogue prices.csv --catalogue NAME --choice '{…}'`: imports a price file into a
 * catalogue, using an API key. Prints what page two shows. Exits with 0 only if the platform reports the import as completed, or
 * after `--dry-run`. Exits with 2, before anything is sent, if a person has to look at it first.
 */
import '../../../runtime/env-file.ts'
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Option } from 'commander'
import * as z from 'zod'
import { parseJson } from '../../../connect/index.ts'
import { createCommand } from '../../../runtime/command.ts'
import { print, printError } from '../../../runtime/print.ts'
import { givenOf } from '../../../settings/read.ts'
import { format } from '../../../web/kit.ts'
import { CATALOGUE_SCOPES, type Catalogue } from '../../catalogues/contract.ts'
import { type ByApiKey, openByApiKey } from '../first-party/by-api-key.cli.ts'
import { describeError } from '../first-party/describe-error.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { type Choice, choiceSchema, columnFor, MONEY } from './choice.ts'
import { filledIn, readDraft } from './form.ts'
import type { Found, Reading } from './found.ts'
import { commandLineImport } from './import.ts'
import { createCatalogue, findCatalogue, type TargetOptions } from './push-target.cli.ts'
import { readInProcess } from './read-in-process.ts'
import { sendFile } from './send-file.cli.ts'
import { choiceArgument, comparedSentences, exampleLines, nameOf, rejectedSentences } from './sentences.ts'
import { texts } from './texts.ts'
import { openTurns, settleLeft } from './turns.ts'
import { stopsUnattended } from './unattended.ts'
import { inFolder } from './work-folder.ts'

const { count } = format
const stop = new AbortController()
const { signal } = stop
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () =>
    stop.abort(
      new Error('Stopped. What was sent stays in the catalogue. Run the command again to send all.'),
    ),
  )

/** A person has to look at the file first: the command ends with 2. */
class StoppedError extends Error {}

async function main(): Promise<void> {
  const { file, options } = readArguments()
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${file} does not exist.`)
  const draft = options.choice === undefined ? null : readChoice(options.choice)
  const session = await openByApiKey(process.env, options)
  const dir = join(givenOf(process.env).DATA_DIR ?? '.data', 'imports')
  try {
    await inFolder(dir, (folder) => push(session, { file, draft, options, itemsPath: join(folder, 'items') }))
  } finally {
    await session.close()
  }
}

interface Push {
  file: string
  draft: Choice | null
  options: Options
  /** The folder of the items as upload requests. */
  itemsPath: string
}

/** Reads a file, prints what page two shows, and sends it, unless a person has to look at it and has not accepted it. */
async function push(session: ByApiKey, { file, draft, options, itemsPath }: Push): Promise<void> {
  const { accept, dryRun } = options
  const turns = openTurns(session.store, session.apiUrl)
  const known = await findCatalogue(session, options, signal)
  await settleLeft(turns, known.id)
  const { revision, received } = await turns.received.read(known.id)
  const task = { path: file, itemsPath, received, draft, goOn: draft !== null, leftOut: [] }
  const reading = await readInProcess(task, { signal })
  const { found } = reading
  if (!found) throw pageOne(reading)
  printPage(reading, found, known)
  if (found.items === 0) throw new Error(texts.errors.noItems)
  const code = await codeOf(file, [known.name, revision, found])
  const mustStop = accept === undefined ? stopsUnattended(reading) : accept !== code
  if (mustStop) throw notAccepted(code, accept !== undefined)
  if (dryRun) return print('Nothing was sent (--dry-run).')
  const catalogue = known.id === '' ? await createCatalogue(session, options, signal) : known
  const read = { checkId: randomUUID(), reading, itemsPath, leftOut: [], receivedRevision: revision }
  const isSent = await sendFile(commandLineImport(basename(file), catalogue, read), read, {
    catalogueImports: createCatalogueImports(session.api),
    source: session.source,
    turns,
    signal,
  })
  if (!isSent) throw new StoppedError('The catalogue has received something else. Run the command again.')
}

/** Makes the code for `--accept` from a file, its choice, its catalogue and what that has received, and all that page two shows. */
async function codeOf(file: string, shown: unknown[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(shown))
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex').slice(0, 12)
}

const notAccepted = (code: string, isOther: boolean) =>
  new StoppedError(
    `${isOther ? 'Nothing was sent: the code of --accept stands for another file, choice or difference.' : 'Nothing was sent: look at what differs.'} To send exactly this, add --accept ${code}`,
  )

/** The error that says what page one asks. It has the choice, as far as the file or the last choice fills it in. */
function pageOne({ outline, missing }: Reading): Error {
  const draft = readDraft(outline, filledIn(outline))
  const lacks: string[] = (['code', 'price'] as const).filter((use) => !columnFor(draft, use))
  if (draft.money === null) lacks.push('money')
  const answers = Object.keys(MONEY).map((answer) => JSON.stringify(answer))
  return new StoppedError(
    [
      'Nothing was sent: the choice of how to read this file is not complete.',
      ...missing.map(texts.missing),
      'The columns:',
      ...outline.columns.map(
        (one) => `  ${one.number}. ${nameOf(one)} (${texts.uses[one.use]}): ${one.samples.join(' | ')}`,
      ),
      'Copy the choice from the page of the import, or complete this one:',
      choiceArgument(draft),
      ...lacks.map((field) => `The choice lacks "${field}".`),
      'A column is {"heading":"…","number":1,"use":"code"}, and "money" is one of:',
      ...answers.map((answer) => `  ${answer}`),
    ].join('\n'),
  )
}

/** What page two shows. */
function printPage({ outline }: Reading, found: Found, { id, name = id, scope }: Catalogue): void {
  const { rows, items, choice, box } = found
  const of = `${count(items)} of ${count(rows)} rows can be sent`
  print(
    ...outline.remarks.map(texts.remark),
    ...comparedSentences(found.compared),
    ...exampleLines(found),
    ...rejectedSentences(found),
    ...box.map((reason) => `! ${texts.boxReason(reason)}`),
    `${of} to "${name}" (${scope ?? 'visibility unknown'}), in ${texts.money(choice.money)}.`,
    choiceArgument(choice),
  )
}

/** Parses a choice. Throws an error that names what is wrong in it. */
function readChoice(text: string): Choice {
  const json = parseJson(text)
  if (json === undefined) throw new Error('--choice is not JSON: copy it as one argument, with its quotes.')
  const parsed = choiceSchema.safeParse(json)
  if (!parsed.success) throw new Error(`--choice is not complete:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

interface Options extends TargetOptions {
  choice?: string
  accept?: string
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
      'how to read the file, as page two and --dry-run print it; the last choice by default',
    )
    .option('--accept <code>', 'send exactly what an earlier run showed with this code')
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
