/**
 * `npm run doctor`: checks the settings, the store, the platform's addresses and our registration there. Exits with 1 if
 * a check fails, and with `--strict` with 2 if there are warnings. `--json` prints an array of findings.
 */
import '../../runtime/env-file.ts'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Config } from '../../config.ts'
import { protectDataDir } from '../../runtime/data-dir.ts'
import { namesInEnvFile } from '../../runtime/env-file.ts'
import { createLog } from '../../runtime/log.ts'
import { print, printJson } from '../../runtime/print.ts'
import { configOf, unknownSettingsOf } from '../../runtime/run-app.ts'
import { fail } from '../../runtime/serve.ts'
import { ConfigError } from '../../settings/read.ts'
import { createStore } from '../../web/create-store.ts'
import { loadFeatures, type NamedFeature } from '../load.ts'
import type { Finding } from '../tools.ts'
import { runDoctor } from './doctor/doctor.ts'
import { failure, ok, warning } from './doctor/finding.ts'
import { notOpened } from './doctor/store.ts'

const HELP = `Usage: npm run doctor -- [--json] [--strict]

Checks the settings, the store, the platform's addresses, and your registration there.

  --json     Prints the findings as JSON.
  --strict   Exits with 2 if there are warnings. Failures exit with 1 in any case.`

const LABELS = { ok: 'ok   ', warning: 'warn ', failure: 'FAIL ' }

async function* findings(): AsyncGenerator<Finding> {
  const features = await loadFeatures()
  yield* envFileFindings()
  yield* unknownFindings(features)
  let config: Config
  try {
    config = configOf(process.env, features)
  } catch (error) {
    yield* settingsFindings(error)
    return
  }
  yield ok('settings', 'settings: complete')
  const { store, finding } = await openStore(config)
  if (finding) yield finding
  try {
    yield* runDoctor({ config, store })
  } finally {
    await store?.close()
  }
}

/** Values that a `#` cuts: in `.env`, it begins a comment unless the value is in quotes. */
function envFileFindings(): Finding[] {
  if (!existsSync('.env')) return []
  const names = [...readFileSync('.env', 'utf8').matchAll(/^\s*(\w+)\s*=\s*[^\s"'`#][^"'`#\n]*[^\s"'`#]#/gm)]
  return names.map(([, setting = '']) => {
    const text = `${setting}: in .env, what follows the # in its value is a comment. Put the value in quotes`
    return warning('env-file', text, { setting })
  })
}

const unknownFindings = (features: readonly NamedFeature[]): Finding[] =>
  unknownSettingsOf(process.env, features, namesInEnvFile).map((setting) => {
    const text = `${setting}: there is no setting of this name; .env.example lists them all`
    return warning('unknown-setting', text, { setting })
  })

function settingsFindings(error: unknown): Finding[] {
  if (!(error instanceof ConfigError)) return [notOpened(error)]
  const findings = error.problems.map((problem) => {
    const [setting = ''] = problem.split(' ')
    return failure('settings', problem, { setting })
  })
  if (existsSync('.env')) return findings
  const text =
    'settings: there is no .env in this folder. Run `cp .env.example .env`, and enter your credentials'
  return [warning('settings', text), ...findings]
}

async function openStore(config: Config) {
  try {
    protectDataDir(config.dataDir)
    const { store } = await createStore(config, createLog('silent'))
    return { store, finding: undefined }
  } catch (error) {
    return { store: undefined, finding: notOpened(error) }
  }
}

try {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, strict: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    print(...HELP.split('\n'))
    process.exit(0)
  }
  const found: Finding[] = []
  for await (const finding of findings()) {
    found.push(finding)
    const { id, status, text } = finding
    if (!values.json) print(`${LABELS[status]} ${text}${status === 'ok' ? '' : ` [${id}]`}`)
  }
  if (values.json) printJson(found)
  const has = (status: Finding['status']) => found.some((finding) => finding.status === status)
  if (!values.json && (has('failure') || has('warning')))
    print('', 'docs/first-contact.md, or the page of the feature, explains each id in brackets.')
  process.exitCode = has('failure') ? 1 : has('warning') && values.strict ? 2 : 0
} catch (error) {
  fail(error)
}
