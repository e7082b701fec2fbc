/** `npm run check-supplier`: tests any implementation of the live pricing API over HTTP. */
import { InvalidArgumentError } from 'commander'
import { createCommand } from '../../runtime/command.ts'
import { fail } from '../../runtime/serve.ts'
import { checkSupplier, type Finding } from './check/check.ts'
import { createProbe, type Exchange } from './check/probe.ts'
import type { Subject } from './check/rule.ts'

const MARKS = { pass: 'pass', fail: 'FAIL', unchecked: ' -- ' } as const

// The output may be piped to a program that exits early, such as `head`.
process.stdout.on('error', () => process.exit(1))

try {
  const { subject, verbose, json } = readArguments()
  const { status, text } = await subject.probe.granted()
  if (status === 0) throw new Error(`Nothing can be checked: POST /connect/token returned ${text}.`)
  const findings: Finding[] = []
  for await (const finding of checkSupplier(subject)) {
    findings.push(finding)
    if (!json) print(finding, verbose)
  }
  if (json) console.log(JSON.stringify(findings.map(toJson), null, 2))
  else printSummary(findings)
  process.exitCode = findings.some(({ outcome }) => outcome === 'fail') ? 1 : 0
} catch (error) {
  fail(error)
}

function print({ rule, outcome, reason, exchange }: Finding, verbose: boolean): void {
  const basis = rule.basis === 'given' ? rule.section : `${rule.section}, assumed`
  console.log(`${MARKS[outcome]}  ${rule.id.padEnd(21)} ${rule.requirement} (${basis})`)
  if (reason) console.log(`        ${outcome === 'fail' ? reason : `Not checked: ${reason}.`}`)
  if (exchange && (verbose || outcome === 'fail'))
    console.log(formatExchange(exchange).replace(/^/gm, '        '))
  else if (exchange) console.log(`        ${exchange.request.split('\n')[0]}  ->  ${exchange.status}`)
}

/** Formats a request and its response, truncated to a readable length. */
function formatExchange({ request, status, text }: Exchange): string {
  const truncate = (value: string, max: number) => (value.length > max ? `${value.slice(0, max)} ...` : value)
  return `> ${truncate(request, 600).replaceAll('\n', '\n> ')}\n< ${status || ''} ${truncate(text, 1000).replaceAll('\n', '\n< ')}`
}

function toJson({ rule, outcome, reason, exchange }: Finding) {
  const { id, section, basis, requirement } = rule
  return {
    rule: id,
    section,
    basis,
    requirement,
    outcome,
    reason,
    ...(exchange && {
      request: exchange.request,
      status: exchange.status,
      answer: exchange.text.slice(0, 10_000),
    }),
  }
}

function printSummary(findings: Finding[]): void {
  const count = (expected: Finding['outcome']) =>
    findings.filter(({ outcome }) => outcome === expected).length
  console.log(
    `\n${count('pass')} rules passed, ${count('fail')} failed, ${count('unchecked')} could not be checked.`,
  )
}

interface Options {
  clientId: string
  clientSecret: string
  item: string[]
  store?: string
  near?: { latitude: number; longitude: number }
  member?: string
  verbose: boolean
  json: boolean
}

function readArguments(): { subject: Subject; verbose: boolean; json: boolean } {
  const collect = (value: string, before: string[]) => [...before, value]
  const command = createCommand(
    'check-supplier',
    'Tests any implementation of the live pricing API over HTTP, before the platform calls it.',
  )
    .argument(
      '<base-url>',
      'the {supplier_base_url}, such as https://supplier.example/live-pricing',
      parseUrl,
    )
    .requiredOption('--client-id <id>', 'client id of the platform')
    .requiredOption('--client-secret <secret>', 'client secret of the platform')
    .option('--item <code>', 'code of an item that has a price; repeatable', collect, [])
    .option('--store <id>', 'a store that sells the items; by default, one found by the search')
    .option('--near <lat,lon>', 'a location with stores nearby; by default, several cities', parseCoordinates)
    .option('--member <number>', 'a member number')
    .option('--verbose', 'show the call of every rule, not only of failed ones', false)
    .option('--json', 'print the results as JSON', false)
    // Join --near and its value: a latitude that starts with a minus sign would look like an option.
    .parse(
      process.argv.flatMap((arg, index, all) =>
        all[index - 1] === '--near' ? [] : joinNear(arg, all[index + 1]),
      ),
    )
  const options = command.opts<Options>()
  const [baseUrl = ''] = command.processedArgs as string[]
  const { clientId, clientSecret, store, member, near, verbose, json } = options
  return {
    subject: {
      probe: createProbe({ baseUrl, clientId, clientSecret }),
      items: options.item,
      ...(store !== undefined && { storeId: store }),
      ...(member !== undefined && { memberNumber: member }),
      ...(near !== undefined && { near }),
    },
    verbose,
    json,
  }
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
