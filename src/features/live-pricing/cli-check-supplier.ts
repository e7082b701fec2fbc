/** `npm run check-supplier`: checks any implementation of the live pricing API over HTTP, before the platform calls it. */
import { InvalidArgumentError } from 'commander'
import { createCommand } from '../../runtime/command.ts'
import { fail } from '../../runtime/serve.ts'
import { checkSupplier, type Finding } from './check/check.ts'
import { createProbe, type Exchange } from './check/probe.ts'
import type { Subject } from './check/rule.ts'

const MARKS = { pass: 'pass', fail: 'FAIL', unchecked: ' -- ' } as const

// The reader of the report, such as `head`, may stop before its end.
process.stdout.on('error', () => process.exit(1))

try {
  const { subject, verbose, json } = readArguments()
  const { status, text } = await subject.probe.granted()
  if (status === 0) throw new Error(`Nothing can be checked: POST /connect/token has ${text}.`)
  const findings: Finding[] = []
  for await (const finding of checkSupplier(subject)) {
    findings.push(finding)
    if (!json) print(finding, verbose)
  }
  if (json) console.log(JSON.stringify(findings.map(described), null, 2))
  else summarise(findings)
  process.exitCode = findings.some(({ outcome }) => outcome === 'fail') ? 1 : 0
} catch (error) {
  fail(error)
}

function print({ rule, outcome, reason, exchange }: Finding, verbose: boolean): void {
  const basis = rule.basis === 'given' ? rule.section : `${rule.section}, assumed`
  console.log(`${MARKS[outcome]}  ${rule.id.padEnd(21)} ${rule.says} (${basis})`)
  if (reason) console.log(`        ${outcome === 'fail' ? reason : `Not checked: ${reason}.`}`)
  if (exchange && (verbose || outcome === 'fail')) console.log(shown(exchange).replace(/^/gm, '        '))
  else if (exchange) console.log(`        ${exchange.request.split('\n')[0]}  ->  ${exchange.status}`)
}

/** A call and its answer, cut to what can be read. */
function shown({ request, status, text }: Exchange): string {
  const cut = (value: string, most: number) => (value.length > most ? `${value.slice(0, most)} ...` : value)
  return `> ${cut(request, 600).replaceAll('\n', '\n> ')}\n< ${status || ''} ${cut(text, 1000).replaceAll('\n', '\n< ')}`
}

function described({ rule, outcome, reason, exchange }: Finding) {
  const { id, section, basis, says } = rule
  return {
    rule: id,
    section,
    basis,
    says,
    outcome,
    reason,
    ...(exchange && {
      request: exchange.request,
      status: exchange.status,
      answer: exchange.text.slice(0, 10_000),
    }),
  }
}

function summarise(findings: Finding[]): void {
  const count = (wanted: Finding['outcome']) => findings.filter(({ outcome }) => outcome === wanted).length
  console.log(
    `\n${count('pass')} rules hold, ${count('fail')} are broken, ${count('unchecked')} could not be checked.`,
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
    'Checks any implementation of the live pricing API over HTTP, before the platform calls it.',
  )
    .argument(
      '<base-url>',
      'the {supplier_base_url}, such as https://supplier.example/live-pricing',
      parseUrl,
    )
    .requiredOption('--client-id <id>', 'client id of the platform')
    .requiredOption('--client-secret <secret>', 'its client secret')
    .option('--item <code>', 'an item that has a price; may be repeated', collect, [])
    .option('--store <id>', 'a store that carries it; by default one that the search finds')
    .option('--near <lat,lon>', 'a place with stores around it; by default several cities', placeOf)
    .option('--member <number>', 'a member number')
    .option('--verbose', 'show the call behind every rule, not only behind those that fail', false)
    .option('--json', 'print the findings as JSON', false)
    // A latitude may start with a minus, which would look like an option.
    .parse(
      process.argv.flatMap((arg, at, all) => (all[at - 1] === '--near' ? [] : joinNear(arg, all[at + 1]))),
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

function placeOf(text: string) {
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (latitude === undefined)
    throw new InvalidArgumentError('It must be LATITUDE,LONGITUDE, such as -37.81,144.96.')
  return { latitude: Number(latitude), longitude: Number(longitude) }
}
