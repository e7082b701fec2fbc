/**
 * `npm run feature -- first-contact probe`: compares the platform with the assumptions of the contracts. It needs one consent in
 * the browser, and the app's own addresses, so the app must not run. Writes a report as Markdown and JSON.
 */
import '../../runtime/env-file.ts'
import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print } from '../../runtime/print.ts'
import { configOf } from '../../runtime/run-app.ts'
import { fail, listen, onStopSignal } from '../../runtime/serve.ts'
import { loadContracts } from '../contracts.ts'
import { loadFeatures, loadTools } from '../load.ts'
import type { ProbeTool } from '../tools.ts'
import { createProbe } from './probe/probe.ts'
import { type Report, summaryOf, toLines, toMarkdown } from './probe/report.ts'
import { createProbeServer } from './probe/server.ts'

const HELP = `Usage: npm run feature -- first-contact probe [--write] [--record] [--out NAME]

Compares the platform with the assumptions of the contracts, after one consent in the browser.

  --write      Also creates a catalogue with an import, and a lead, named as a test. Use a staging account.
  --record     Keeps how the platform answers in the report, for npm run sandbox -- --as NAME.json.
  --out NAME   Writes NAME.md and NAME.json; by default probe-report.`

/** Throws an error that names the option, before a consent is given in vain. */
function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'))
    if (statSync(file).size === 0) rmSync(file)
  } catch (error) {
    throw new Error(`--out: ${(error as Error).message}`)
  }
}

try {
  const { values } = parseArgs({
    options: {
      write: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      out: { type: 'string', default: 'probe-report' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    print(...HELP.split('\n'))
    process.exit(0)
  }
  const config = configOf(process.env, await loadFeatures())
  for (const extension of ['json', 'md']) checkWritable(`${values.out}.${extension}`)
  const probes = await loadTools<ProbeTool>('probe.ts')
  const run = createProbe({ config, contracts: await loadContracts(), probes, write: values.write })
  const { appUrl, authUrl, apiUrl } = config.platform
  const onChecked = async () => {
    const report: Report = {
      probedAt: new Date().toISOString(),
      platform: { appUrl, authUrl, apiUrl },
      write: values.write,
      results: run.results(),
      ...(values.record && { recording: run.recording() }),
    }
    writeFileSync(`${values.out}.json`, `${JSON.stringify(report, null, 2)}\n`)
    writeFileSync(`${values.out}.md`, toMarkdown(report))
    const { results } = report
    print(...toLines(results))
    print(`${summaryOf(results)}. Wrote ${values.out}.md and ${values.out}.json. Stop with Ctrl+C.`)
  }
  const app = createProbeServer({ config, run, onChecked })
  const server = await listen(app, {
    port: config.port,
    host: config.host,
    variable: 'PORT',
    localOnly: config.demoAllowRemote ? undefined : [new URL(config.baseUrl).hostname],
  }).catch((error: Error) => {
    if (!error.message.includes('already in use')) throw error
    throw new Error(`PORT: port ${config.port} is in use. Stop the app first: the probe needs its address`)
  })
  print(`Open ${config.baseUrl} and give consent. Stop with Ctrl+C.`)
  onStopSignal(async () => {
    await server.stop(0)
    await run.close()
  })
} catch (error) {
  fail(error)
}
