/**
 * `npm run feature -- catalogue-files push-catalogue items.csv --catalogue NAME`: sends a catalogue file, using an API key.
 * Exits with 0 when the platform has completed the import, or after `--dry-run`, and with 1 for errors. If a page would ask for
 * a tick, sends no items and exits with 2.
 */
import '../../../runtime/env-file.ts'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { Option } from 'commander'
import * as z from 'zod'
import { createCommand } from '../../../runtime/command.ts'
import { createLog } from '../../../runtime/log.ts'
import { print, printError } from '../../../runtime/print.ts'
import { format } from '../../../web/feature-api.ts'
import { CATALOGUE_SCOPES, type NewCatalogue } from '../../catalogues/contract.ts'
import { type ByApiKey, openByApiKey } from '../first-party/by-api-key.cli.ts'
import { describeError } from '../first-party/describe-error.ts'
import { compare } from './difference.ts'
import { ImportError } from './errors.ts'
import { texts as importTexts } from './import-texts.ts'
import type { FileProblems } from './problems.ts'
import { Records } from './records.ts'
import { Sender } from './sender.ts'
import { createCatalogue, findCatalogue } from './target.cli.ts'
import { readFile } from './template.ts'
import { texts } from './texts.ts'

interface Options {
  catalogue: string
  scope?: NewCatalogue['scope']
  accept?: string
  dryRun: boolean
  tenant?: string
  demo: boolean
}

async function main(): Promise<void> {
  const { path, options } = readArguments()
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Error(`The file ${path} does not exist.`)
  const session = await openByApiKey(process.env, options)
  try {
    await push(session, path, options)
  } finally {
    await session.close()
  }
}

/** Checks a file, prints the differences, and sends it, unless a page would ask for a tick and its code was not given. */
async function push(session: ByApiKey, path: string, { accept, dryRun, ...options }: Options): Promise<void> {
  const target = { name: options.catalogue.trim(), scope: options.scope }
  const records = new Records(session.store, session.apiUrl)
  const items = await readFile(createReadStream(path))
  let [id, note] = ['', '']
  const sender = new Sender({
    records,
    api: session.api,
    source: (job) => (job.id === id ? session.source : null),
    log: createLog('silent'),
    onProgress(progress) {
      if (progress.note !== note) print(progress.note)
      note = progress.note
    },
  })
  const known = await findCatalogue(session, target)
  // Ends the import of a command that was killed.
  if (known) await sender.send(known.id)
  const difference = await compare(items, known && (await records.received(await records.find(known.id))))
  const { asks, code } = difference
  print(
    JSON.stringify(difference, null, 2),
    ...asks.map((ask) => format.undirected(importTexts.question(ask))),
  )
  if (accept === undefined ? asks.length > 0 : accept !== code) {
    const reason = accept
      ? 'the code of --accept stands for another file or difference'
      : 'look at what differs'
    printError(`Nothing was sent: ${reason}. To send exactly this, add --accept ${code}`)
    process.exitCode = 2
    return
  }
  if (dryRun) return print('Nothing was sent (--dry-run).')
  const { id: catalogueId } = known ?? (await createCatalogue(session, records, target))
  await sender.begin(catalogueId, async () => {
    const file = { catalogueId, catalogueName: target.name, fileName: basename(path), by: null }
    const job = await records.add(file, items)
    id = job.id
    return records.start(job, code, true)
  })
  const job = await records.find(catalogueId)
  // Another file may have replaced this one, whose end is then unknown.
  const own = job?.id === id ? job : null
  if (own?.state !== 'completed')
    throw new Error(own?.message || 'The import was interrupted. Run the command again.')
  print(`Completed: ${format.pluralize(items.length, 'item')}.`, ...(own.message ? [own.message] : []))
}

/** The errors of a file: the count and the cure for each kind, with its first places. */
const problemLines = ({ refused, kinds }: FileProblems) => [
  importTexts.errors.wrongFile,
  ...(refused === null ? [] : [refused]),
  ...kinds.flatMap(({ column, expected, cure, count, places }) => [
    `${importTexts.wrong.kind(count, column, expected)} ${cure}`,
    ...places.map(({ line, found }) => `  ${texts.place(line, found)}`),
  ]),
]

function readArguments(): { path: string; options: Options } {
  const command = createCommand(
    'npm run feature -- catalogue-files push-catalogue',
    'Sends a catalogue file, using an API key.',
  )
    .argument('<file>', 'the CSV file in the form of the template')
    .requiredOption('--catalogue <name>', 'name of the catalogue; created if it does not exist')
    .addOption(
      new Option(
        '--scope <scope>',
        'visibility of a new catalogue; must match that of an existing one',
      ).choices(CATALOGUE_SCOPES),
    )
    .option('--accept <code>', 'send exactly what an earlier run showed with this code')
    .option('--dry-run', 'print what differs, and send nothing', false)
    .option('--tenant <id>', 'act for this tenant; `npm run feature -- first-party tenants` lists them')
    .option('--demo', 'use the running demo, without an .env', false)
  command.parse()
  return { path: command.args[0] ?? '', options: command.opts<Options>() }
}

try {
  await main()
} catch (error) {
  if (error instanceof ImportError && error.problems) printError(...problemLines(error.problems))
  else
    printError(...(error instanceof z.ZodError ? z.prettifyError(error) : describeError(error)).split('\n'))
  process.exitCode = 1
}
