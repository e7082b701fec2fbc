/** `npm run check-supplier`: checks any implementation of the live pricing API over HTTP, before the platform calls it. */
import { parseArgs } from 'node:util'
import { fail } from '../../runtime/serve.ts'
import { checkSupplier, type Finding } from './check/check.ts'
import { createProbe, type Exchange } from './check/probe.ts'
import type { Subject } from './check/rule.ts'

const USAGE = `Usage: npm run check-supplier -- BASE_URL --client-id ID --client-secret SECRET [options]
  BASE_URL             the {supplier_base_url}, such as https://supplier.example/live-pricing
  --item CODE          an item that has a price; may be repeated. Without it, prices are checked by made-up items only
  --store ID           a store that carries it; otherwise one that the search finds
  --near LAT,LON       a place with stores around it; otherwise several cities are tried
  --member NUMBER      a member number
  --verbose            show the call behind every rule, not only behind those that fail
  --json               print the findings as JSON`

const MARKS = { pass: 'pass', fail: 'FAIL', unchecked: ' -- ' } as const

// Whoever reads the report may stop before its end.
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
    ...{ rule: id, section, basis, says, outcome, reason },
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

function readArguments(): { subject: Subject; verbose: boolean; json: boolean } {
  const string = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      // A latitude may begin with a minus, which would be taken for an option.
      args: process.argv.slice(2).flatMap((arg, at, all) => {
        if (all[at - 1] === '--near') return []
        return arg === '--near' ? `--near=${all[at + 1] ?? ''}` : arg
      }),
      allowPositionals: true,
      options: {
        ...{ 'client-id': string, 'client-secret': string, store: string, near: string, member: string },
        ...{ item: { type: 'string', multiple: true, default: [] }, verbose: flag, json: flag, help: flag },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const [base = '', ...more] = positionals
    const url = URL.parse(base)
    if (!url || !/^https?:$/.test(url.protocol) || more.length > 0)
      throw new Error('Name one base address, http or https.')
    const { 'client-id': clientId, 'client-secret': clientSecret } = values
    if (!clientId || !clientSecret) throw new Error('Name --client-id and --client-secret.')
    const baseUrl = (url.origin + url.pathname).replace(/\/+$/, '')
    return {
      subject: {
        ...{ probe: createProbe({ baseUrl, clientId, clientSecret }), items: values.item },
        ...(values.store !== undefined && { storeId: values.store }),
        ...(values.member !== undefined && { memberNumber: values.member }),
        ...(values.near !== undefined && { near: placeOf(values.near) }),
      },
      ...{ verbose: values.verbose, json: values.json },
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`)
  }
}

function placeOf(text: string) {
  const [, latitude, longitude] = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (latitude === undefined) throw new Error('--near must be LATITUDE,LONGITUDE, such as -37.81,144.96.')
  return { latitude: Number(latitude), longitude: Number(longitude) }
}
