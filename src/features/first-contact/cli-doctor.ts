/**
 * `npm run doctor`: checks the settings, the store, the platform's addresses and our registration there. With `--consent`, it also
 * asks for a consent in the browser and compares the platform with the contracts. For that, it listens at the app's own address,
 * so the app must not run. Exits with 1 if a check fails. With `--strict`, exits with 2 if the worst finding is a warning.
 */
import '../../runtime/env-file.ts'
import { accessSync, constants, writeFileSync } from 'node:fs'
import { Option } from 'commander'
import { type Config, unknownSettings } from '../../config.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { createCommand } from '../../runtime/command.ts'
import { namesInEnvFile } from '../../runtime/env-file.ts'
import { createLog } from '../../runtime/log.ts'
import { print, printJson } from '../../runtime/print.ts'
import { configOf } from '../../runtime/run-app.ts'
import { fail, listen, onStopSignal } from '../../runtime/serve.ts'
import { ConfigError } from '../../settings/read.ts'
import { createStore, type Finding } from '../../web/kit.ts'
import { loadContracts } from '../contracts.ts'
import { featureOptions, loadFeatures, loadTools } from '../load.ts'
import { Consents } from './consent/consents.ts'
import { REPORT, type Report, sectionsOf, summaryOf } from './consent/report.ts'
import { createConsentServer } from './consent/server.ts'
import { runDoctor } from './doctor.ts'
import { checkEnvironment, settingsFindings } from './environment.ts'
import { ok } from './findings.ts'
import { notOpened } from './store.ts'

/** `open`: this run has not seen what the platform does. `ask`: no run can see it, so a person has to ask. */
const LABELS = {
  ok: 'ok   ',
  warning: 'warn ',
  failure: 'FAIL ',
  'not seen': 'open ',
  'not checked': 'ask  ',
}

const lineOf = ({ id, status, text }: Finding) =>
  `${LABELS[status]} ${text}${status === 'ok' ? '' : ` [${id}]`}`

/** Runs all checks that need no person. */
async function* findings(): AsyncGenerator<Finding> {
  const features = await loadFeatures()
  yield* checkEnvironment(unknownSettings(process.env, featureOptions(features).features, namesInEnvFile))
  let config: Config
  try {
    config = configOf(process.env, features)
  } catch (error) {
    yield* error instanceof ConfigError ? settingsFindings(error) : [notOpened(error)]
    return
  }
  yield ok('settings', 'settings: complete')
  let store: KeyValueStore | undefined
  try {
    store = (await createStore(config, createLog('silent'))).store
  } catch (error) {
    yield notOpened(error)
  }
  try {
    yield* runDoctor({ config, store })
  } finally {
    await store?.close()
  }
}

/** Prints the findings. Sets the exit code. */
async function check(isJson: boolean, isStrict: boolean): Promise<void> {
  const found: Finding[] = []
  for await (const finding of findings()) {
    found.push(finding)
    if (!isJson) print(lineOf(finding))
  }
  const has = (status: Finding['status']) => found.some((finding) => finding.status === status)
  if (isJson) printJson(found)
  else if (has('failure') || has('warning'))
    print('', 'docs/first-contact.md, or the page of the feature, explains each id in brackets.')
  process.exitCode = has('failure') ? 1 : has('warning') && isStrict ? 2 : 0
}

/** Throws an error if the report cannot be written, before somebody gives a consent in vain. */
function requireWritable(): void {
  try {
    accessSync('.', constants.W_OK)
  } catch {
    throw new Error(`--consent: ${REPORT} cannot be written to this folder`)
  }
}

/** Asks for a consent at the app's own address, until the process is stopped. */
async function askForConsent(write: boolean): Promise<void> {
  const config = configOf(process.env, await loadFeatures())
  const probes = await loadTools('probe')
  const consents = new Consents({ config, contracts: await loadContracts(), probes, write })
  const { appUrl, authUrl, apiUrl } = config.platform
  const onChecked = async () => {
    const checked: Report = {
      checkedAt: new Date().toISOString(),
      platform: { appUrl, authUrl, apiUrl },
      write,
      findings: consents.round.comparisons.findings(),
    }
    print('', ...sectionsOf(checked.findings).flatMap((section) => section.findings.map(lineOf)))
    writeFileSync(REPORT, `${JSON.stringify(checked, null, 2)}\n`)
    print(`${summaryOf(checked.findings)}. Wrote ${REPORT}. Stop with Ctrl+C.`)
  }
  const server = await listen(createConsentServer({ config, consents, onChecked }), {
    port: config.port,
    host: config.host,
    variable: 'PORT',
    localOnly: config.demoAllowRemote ? undefined : [new URL(config.baseUrl).hostname],
  }).catch((error: Error) => {
    if (!error.message.includes('already in use')) throw error
    throw new Error(`PORT: port ${config.port} is in use. Stop the app first: the doctor needs its address`)
  })
  print('', `Open ${config.baseUrl} and give consent. Stop with Ctrl+C.`)
  onStopSignal(async () => {
    await server.stop(0)
    await consents.close()
  })
}

interface Options {
  json: boolean
  strict: boolean
  consent: boolean
  write: boolean
}

await createCommand(
  'npm run doctor --',
  "Checks the settings, the store, the platform's addresses, and your registration there.",
)
  .addOption(
    new Option('--json', `print the findings as JSON; not with --consent, which writes ${REPORT}`)
      .default(false)
      .conflicts('consent'),
  )
  .option('--strict', 'exit with 2 if there are warnings; failures exit with 1 in any case', false)
  .option(
    '--consent',
    `after the checks, ask for a consent in the browser, and compare the platform with the contracts; writes ${REPORT}`,
    false,
  )
  .option(
    '--write',
    'with --consent: also create a catalogue with an import, and a lead, named as a test; use a staging account',
    false,
  )
  .action(async ({ json, strict, consent, write }: Options) => {
    if (write && !consent) throw new Error('--write needs --consent')
    if (consent) requireWritable()
    await check(json, strict)
    if (consent) await askForConsent(write)
  })
  .parseAsync()
  .catch(fail)
