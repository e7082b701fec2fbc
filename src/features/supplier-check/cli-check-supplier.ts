/** `npm run check-supplier`: tests any implementation of the live pricing API over HTTP. */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { createCommand } from '../../runtime/command.ts'
import { print, printJson } from '../../runtime/print.ts'
import { fail } from '../../runtime/serve.ts'
import { checkSupplier, type Finding, isBroken, isUnproven } from './check-supplier.ts'
import { htmlReport } from './html-report.ts'
import { junitReport } from './junit-report.ts'
import { basisOf, callOf, type Report, resultOf, summaryOf } from './report.ts'
import type { Subject } from './rule.ts'
import { createProbe } from './supplier-probe.ts'

const MARKS = { pass: 'pass', fail: 'FAIL', warning: 'warn', 'not checked': ' -- ' } as const
const WRITERS: Record<string, (report: Report) => string> = { '.html': htmlReport, '.xml': junitReport }

// The output may be piped to a program that exits early, such as `head`.
process.stdout.on('error', () => process.exit(1))

try {
  const { subject, options, baseUrl } = readArguments()
  const { givenOnly, json, verbose } = options
  const { exchange } = await subject.probe.granted()
  if (exchange.status === 0)
    throw new Error(`Nothing can be checked: POST /connect/token returned ${exchange.text}.`)
  const findings: Finding[] = []
  for await (const finding of checkSupplier(subject)) {
    findings.push(finding)
    if (!json) printFinding(finding, givenOnly, verbose)
  }
  if (json) printJson(findings.map(toJson))
  else print('', summaryOf({ findings, givenOnly }))
  for (const file of options.report)
    writeFileSync(
      file,
      WRITERS[extname(file)]?.({ baseUrl: subject.probe.redact(baseUrl), findings, givenOnly }) ?? '',
    )
  const isProven = options.allowUnchecked || !findings.some(isUnproven)
  if (!isProven && !json)
    print(
      'Not proven: a rule that the specification gives could not be checked. See above which option it needs.',
    )
  process.exitCode = findings.some((finding) => isBroken(finding, givenOnly)) ? 1 : isProven ? 0 : 2
} catch (error) {
  fail(error)
}

function printFinding(finding: Finding, givenOnly: boolean, verbose: boolean): void {
  const { rule, outcome, reason, call } = finding
  print(`${MARKS[resultOf(finding, givenOnly)]}  ${rule.id.padEnd(22)} ${rule.title} (${basisOf(rule)})`)
  if (reason) print(`        ${outcome === 'fail' ? reason : `Not checked: ${reason}.`}`)
  if (call && (verbose || outcome === 'fail'))
    print(...truncate(finding).replace(/^/gm, '        ').split('\n'))
  else if (call) print(`        ${call.request.split('\n')[0]}  ->  ${call.status}`)
}

/** The call of a finding, in a readable length. */
function truncate(finding: Finding): string {
  const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max)} ...` : text)
  const { call } = finding
  return callOf({
    ...finding,
    ...(call && { call: { ...call, request: cut(call.request, 600), answer: cut(call.answer, 1000) } }),
  })
}

function toJson({ rule, outcome, reason, call }: Finding) {
  const { id, given, title } = rule
  return {
    rule: id,
    basis: given === undefined ? 'assumed' : 'given',
    ...(given !== undefined && { section: given.replace('§', '') }),
    requirement: title,
    outcome,
    reason,
    ...call,
  }
}

interface Options {
  clientId: string
  clientSecret: string
  item: string[]
  store?: string
  near?: { latitude: number; longitude: number }
  member?: string
  notInRange: { itemId: string; storeId: string }[]
  tokenJson: boolean
  givenOnly: boolean
  allowUnchecked: boolean
  report: string[]
  verbose: boolean
  json: boolean
}

function readArguments(): { subject: Subject; options: Options; baseUrl: string } {
  const command = addOptions(
    createCommand(
      'check-supplier',
      'Tests any implementation of the live pricing API over HTTP, before the platform calls it.',
    ).argument(
      '<base-url>',
      'the {supplier_base_url}, such as https://supplier.example/live-pricing',
      parseUrl,
    ),
    // Join --near and its value: a latitude that starts with a minus sign would look like an option.
  ).parse(
    process.argv.flatMap((arg, index, all) =>
      all[index - 1] === '--near' ? [] : joinNear(arg, all[index + 1]),
    ),
  )
  const options = command.opts<Options>()
  const [baseUrl = ''] = command.processedArgs as string[]
  const { clientId, clientSecret, tokenJson, item, store, member, near, notInRange } = options
  return {
    subject: {
      probe: createProbe({ baseUrl, clientId, clientSecret, tokenJson }),
      items: item,
      notInRange,
      ...(store !== undefined && { storeId: store }),
      ...(member !== undefined && { memberNumber: member }),
      ...(near !== undefined && { near }),
    },
    options,
    baseUrl,
  }
}

function addOptions(command: ReturnType<typeof createCommand>) {
  return command
    .requiredOption('--client-id <id>', 'client id of the platform')
    .requiredOption('--client-secret <secret>', 'client secret of the platform')
    .option('--token-json', 'send token requests as JSON, not as a form', false)
    .option(
      '--item <code>',
      'code of an item that has a price; repeatable',
      collect((text) => text),
      [],
    )
    .option('--store <id>', 'a store that sells the items; by default, one found by the search')
    .option(
      '--not-in-range <item@store>',
      'an item, and a store that does not sell it; repeatable',
      collect(parsePair),
      [],
    )
    .option('--near <lat,lon>', 'a location with stores nearby; by default, several cities', parseCoordinates)
    .option('--member <number>', 'a member number')
    .option('--given-only', 'exit with 1 only if a rule that the specification gives is broken', false)
    .option('--allow-unchecked', 'exit with 0 although given rules could not be checked', false)
    .option(
      '--report <file>',
      'write a report: FILE.html, or FILE.xml for JUnit; repeatable',
      collect(parseReport),
      [],
    )
    .option('--verbose', 'show the call of every rule, not only of failed ones', false)
    .option('--json', 'print the results as JSON', false)
}

/** Collects the values of an option that can be repeated. */
function collect<T>(parse: (text: string) => T) {
  return (text: string, before: T[]) => [...before, parse(text)]
}

function joinNear(arg: string, value = ''): string {
  return arg === '--near' ? `--near=${value}` : arg
}

function parseUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('It must be an http or https URL.')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

function parseCoordinates(text: string) {
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (latitude === undefined)
    throw new InvalidArgumentError('It must be LATITUDE,LONGITUDE, such as -37.81,144.96.')
  return { latitude: Number(latitude), longitude: Number(longitude) }
}

/** Splits at the last `@`: the code of an item may have one. */
function parsePair(text: string) {
  const [, itemId, storeId] = /^(.+)@([^@]+)$/.exec(text) ?? []
  if (itemId === undefined || storeId === undefined)
    throw new InvalidArgumentError('It must be ITEM@STORE, such as FT-1001@darwin.')
  return { itemId, storeId }
}

function parseReport(file: string): string {
  if (!WRITERS[extname(file)])
    throw new InvalidArgumentError('It must end with .html, or with .xml for JUnit.')
  if (!existsSync(dirname(file))) throw new InvalidArgumentError(`There is no folder ${dirname(file)}.`)
  return file
}
