/**
 * `npm run doctor`: checks the settings, the store, the platform's addresses and our registration there. Exits with 1 if
 * a check fails, and with `--strict` with 2 if there are warnings. `--json` prints an array of findings.
 */
import '../runtime/env-file.ts'
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { runDoctor } from '../doctor/doctor.ts'
import { type Finding, failure, ok } from '../doctor/finding.ts'
import { notOpened } from '../doctor/store.ts'
import { features } from '../features/index.ts'
import { createStore } from '../runtime/create-store.ts'
import { protectDataDir } from '../runtime/data-dir.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'
import { ConfigError } from '../settings/read.ts'

const LABELS = { ok: 'ok   ', warning: 'warn ', failure: 'FAIL ' }

async function* findings(): AsyncGenerator<Finding> {
  let config: Config
  try {
    config = configOf(process.env)
  } catch (error) {
    yield* settingsFindings(error)
    return
  }
  yield ok('settings', 'settings: complete')
  const { store, finding } = await openStore(config)
  if (finding) yield finding
  try {
    yield* runDoctor({ config, store, features })
  } finally {
    await store?.close()
  }
}

function settingsFindings(error: unknown): Finding[] {
  if (!(error instanceof ConfigError)) return [notOpened(error)]
  return error.problems.map((problem) => {
    const [setting = ''] = problem.split(' ')
    return failure('settings', problem, { setting })
  })
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
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, strict: { type: 'boolean' } } })
  const found: Finding[] = []
  for await (const finding of findings()) {
    found.push(finding)
    const { id, status, text } = finding
    if (!values.json) console.log(`${LABELS[status]} ${text}${status === 'ok' ? '' : ` [${id}]`}`)
  }
  if (values.json) console.log(JSON.stringify(found, null, 2))
  const has = (status: Finding['status']) => found.some((finding) => finding.status === status)
  if (!values.json && (has('failure') || has('warning')))
    console.log('\ndocs/troubleshooting.md explains each id in brackets.')
  process.exitCode = has('failure') ? 1 : has('warning') && values.strict ? 2 : 0
} catch (error) {
  fail(error)
}
