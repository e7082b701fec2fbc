/**
 * `npm run feature -- price-files push-catalogue prices.csv --catalogue NAME --choice '{…}'`: imports a price file into a catalogue,
 * using an API key. Prints what page two shows. Exits with 0 only if the platform reports the import as completed, and with 2, before
 * anything is sent, if a person has to look at it first.
 */
import '../../runtime/env-file.ts'
import { createHash } from 'node:crypto'
import { copyFileSync, createReadStream, existsSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { createCommand } from '../../runtime/command.ts'
import { print, printError } from '../../runtime/print.ts'
import { givenOf } from '../../settings/read.ts'
import { CATALOGUE_SCOPES } from '../catalogues/contract.ts'
import { openByApiKey } from '../first-party/by-api-key.cli.ts'
import { describeError } from '../first-party/describe-error.ts'
import { type Choice, choiceSchema } from './choice.ts'
import { filledIn, readDraft } from './form.ts'
import type { Found, Outline, Reading } from './found.ts'
import { formatCount, Push, type Target } from './push.cli.ts'
import { readInProcess } from './read-in-process.ts'
import { reportOf } from './report.ts'
import { choiceArgument, comparedSentences, exampleLines, rejectedSentences } from './sentences.ts'
import { texts } from './texts.ts'
import { differencesOf, stopsUnattended } from './unattended.ts'
import { inFolder } from './work-folder.ts'

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
  const choice = options.choice === undefined ? null : readChoice(options.choice)
  if (options.report !== undefined) requireReport(options.report, file)
  const session = await openByApiKey(process.env, options)
  const dir = join(givenOf(process.env).DATA_DIR ?? '.data', 'imports')
  try {
    await inFolder(dir, async (folder) => {
      // What is read, and what its code stands for, are the same bytes.
      const copy = join(folder, 'file')
      copyFileSync(file, copy)
      const push = new Push(session, options, signal)
      const work = (target: Target) => pushFile({ file, copy, folder, choice, options }, push, target)
      await push.inTurn(work)
    })
  } finally {
    await session.close()
  }
}

interface Given {
  file: string
  copy: string
  folder: string
  choice: Choice | null
  options: Options
}

/** Reads the file, prints what page two shows, and sends it if nobody has to look at it, or somebody has. */
async function pushFile(
  { file, copy, folder, choice, options }: Given,
  push: Push,
  target: Target,
): Promise<void> {
  const itemsPath = join(folder, 'items')
  const how = { draft: choice, goOn: choice !== null, received: target.received, leftOut: [] }
  const reading = await readInProcess({ path: copy, itemsPath, ...how }, { signal: target.signal })
  const { outline, found } = reading
  if (options.report !== undefined) writeFileSync(options.report, found ? reportOf(outline, found) : '')
  if (!found) throw pageOne(reading)
  printPage(outline, found, target)
  if (found.items === 0) throw new Error(texts.errors.noItems)
  const code = await codeOf(copy, found, target)
  const content = { fileName: file, found, itemsPath }
  const isAccepted = options.accept === code
  const isOther = options.accept !== undefined && !isAccepted
  const mayStop = isOther || (stopsUnattended(reading) && !isAccepted)
  if (mayStop && !(await push.isResumed(target, content))) throw notAccepted(code, isOther)
  if (options.dryRun) print('Nothing was sent (--dry-run).')
  else await push.send(target, content)
}

const notAccepted = (code: string, isOther: boolean) =>
  new StoppedError(
    `${isOther ? 'Nothing was sent: the code of --accept stands for another file, choice or difference.' : 'Nothing was sent: look at what differs.'} To send exactly this, add --accept ${code}`,
  )

/** What page one asks, and the choice as far as the file or the last one fills it in. */
function pageOne({ outline, missing }: Reading): Error {
  const lines = [
    'Nothing was sent: it is not known how this file is read.',
    ...missing.map(texts.missing),
    'The columns:',
    ...outline.columns.map(
      ({ number, heading, use, samples }) =>
        `  ${number}. ${heading} (${texts.uses[use]}): ${samples.join(' | ')}`,
    ),
    'The page of the import prints the choice, or complete this one:',
    choiceArgument(readDraft(outline, filledIn(outline))),
  ]
  return new StoppedError(lines.join('\n'))
}

/** What page two shows. */
function printPage(outline: Outline, found: Found, { name, scope }: Target): void {
  const { rows, items, choice, box } = found
  const of = `${formatCount(items)} of ${formatCount(rows)} rows can be sent`
  print(
    ...outline.remarks.map(texts.remark),
    ...comparedSentences(found.compared),
    ...exampleLines(found),
    ...rejectedSentences(found),
    ...box.map((reason) => `! ${texts.boxReason(reason)}`),
    `${of} to "${name}" (${scope}), in ${texts.money(choice.money)}.`,
    choiceArgument(choice),
  )
}

/**
 * Stands for this file, this choice, this catalogue and exactly these differences. A catalogue that has received nothing is known by
 * its name, whether or not a run that was killed has created it already.
 */
async function codeOf(path: string, found: Found, { catalogue, name, received }: Target): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  const to = catalogue && !received?.isOwn ? catalogue.id : name
  hash.update(JSON.stringify([found.choice, to, differencesOf(found)]))
  return hash.digest('hex').slice(0, 12)
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

interface Options {
  catalogue?: string
  catalogueId?: string
  scope?: (typeof CATALOGUE_SCOPES)[number]
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
