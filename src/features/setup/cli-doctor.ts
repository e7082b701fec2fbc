/**
 * `npm run doctor`: checks the settings, the store, the platform's addresses and our registration there. With `--consent`, it also
 * asks for one consent in the browser, and makes the app's calls with it. It then listens at the app's own address, so stop the
 * app first. Exits with 1 if a check fails. With `--strict`, exits with 2 if the worst finding is a warning.
 */
import '../../runtime/env-file.ts'
import { platform } from '../../connect/index.ts'
import { createCommand } from '../../runtime/command.ts'
import { createStore } from '../../runtime/create-store.ts'
import { namesInEnvFile } from '../../runtime/env-file.ts'
import { createLog } from '../../runtime/log.ts'
import { print } from '../../runtime/print.ts'
import { configOf } from '../../runtime/run-app.ts'
import { fail, listen, onStopSignal } from '../../runtime/serve.ts'
import { type Config, proxyProblem, unknownSettings } from '../../settings/config.ts'
import { ConfigError } from '../../settings/read.ts'
import type { Finding } from '../../web/feature-api.ts'
import { featureOptions, loadFeatures } from '../load.ts'
import { createClient } from './client.ts'
import { createConsentServer } from './consent.ts'
import { runDoctor } from './doctor.ts'
import { checkEnvironment, settingsFindings } from './environment.ts'
import { ok, warning } from './findings.ts'
import { notOpened } from './store.ts'

const LABELS: Record<Finding['status'], string> = { ok: 'ok   ', warning: 'warn ', failure: 'FAIL ' }

const lineOf = ({ id, status, text }: Finding) =>
  `${LABELS[status]} ${text}${status === 'ok' ? '' : ` [${id}]`}`

/** Runs all automatic checks. */
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
  const problem = proxyProblem(config)
  if (problem) yield warning('trust-proxy', 'TRUST_PROXY', problem)
  const opened = await createStore(config, createLog('silent')).catch(notOpened)
  const store = 'store' in opened ? opened.store : undefined
  if ('id' in opened) yield opened
  try {
    yield* runDoctor({ config, store })
  } finally {
    await store?.close()
  }
}

/** Asks for one consent at the app's own address. Resolves to its findings. */
async function askForConsent(): Promise<Finding[]> {
  const features = await loadFeatures()
  const config = configOf(process.env, features)
  const { baseUrl, port, host } = config
  const client = createClient(config.platform)
  const target = { platform, ...config.platform, baseUrl, client }
  const { promise: found, resolve: onChecked } = Promise.withResolvers<Finding[]>()
  const server = await listen(createConsentServer(target, features, onChecked), {
    port,
    host,
    variable: 'PORT',
    localOnly: config.demoAllowRemote ? undefined : [new URL(baseUrl).hostname],
  })
  const close = async () => {
    await server.stop(0)
    await client.close()
  }
  onStopSignal(close)
  print('', `Open ${baseUrl} and give consent. Stop with Ctrl+C.`)
  await found
  await close()
  return found
}

/** Prints the findings. Sets the exit code. */
async function check({ strict, consent }: { strict: boolean; consent: boolean }): Promise<void> {
  const found: Finding[] = []
  const has = (status: Finding['status']) => found.some((finding) => finding.status === status)
  const report = (finding: Finding) => {
    found.push(finding)
    print(lineOf(finding))
  }
  for await (const finding of findings()) report(finding)
  // Without complete settings, the address to listen at is unknown.
  if (consent && found.some(({ id, status }) => id === 'settings' && status === 'ok'))
    for (const finding of await askForConsent()) report(finding)
  if (has('failure') || has('warning'))
    print('', 'docs/setup.md, or the page of the feature, explains each id in brackets.')
  process.exitCode = has('failure') ? 1 : has('warning') && strict ? 2 : 0
}

await createCommand(
  'npm run doctor --',
  "Checks the settings, the store, the platform's addresses, and your registration there.",
)
  .option('--strict', 'exit with 2 if there are warnings; failures exit with 1 in any case', false)
  .option(
    '--consent',
    "after the checks, ask for one consent in the browser, and make the app's calls with it; stop the app first",
    false,
  )
  .action(check)
  .parseAsync()
  .catch(fail)
