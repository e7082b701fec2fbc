/**
 * `npm run reencrypt`: re-encrypts all records with the first key, so that older keys can be removed. Run again after an
 * interruption, it only reads the records that are done.
 */
import '../runtime/env-file.ts'
import { StoreUnavailableError } from '../connect/errors.ts'
import type { ReencryptResult } from '../connect/index.ts'
import { ready } from '../connect/stores.ts'
import { createDependencies } from '../dependencies.ts'
import { loadFeatures, loadTools } from '../features/load.ts'
import type { ReencryptTool } from '../features/tools.ts'
import { storeProblem } from '../runtime/command.ts'
import { createLog } from '../runtime/log.ts'
import { print, printError } from '../runtime/print.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'

/** How often the progress is printed, in ms. */
const PROGRESS_MS = 2_000

let printedAt = performance.now()
function printProgress({ reencrypted, current }: ReencryptResult): void {
  if (performance.now() - printedAt < PROGRESS_MS) return
  printedAt = performance.now()
  printError(`${reencrypted} records re-encrypted so far; ${current} already used the first key.`)
}

try {
  const features = await loadFeatures()
  const { config, store, connect, deps, close } = await createDependencies(
    configOf(process.env, features),
    createLog('silent'),
    features,
  )
  await ready(store)
  const results = [await connect.vault.reencrypt(printProgress)]
  for (const reencrypt of (await loadTools<ReencryptTool>('reencrypt.ts')).values())
    results.push(await reencrypt(deps, printProgress))
  await close()
  const sum = (name: 'reencrypted' | 'current' | 'unreadable') =>
    results.reduce((total, result) => total + result[name], 0)
  const [key] = config.tokenEncryptionKeys
  print(
    `${sum('reencrypted')} records re-encrypted with the key "${key?.id}"; ${sum('current')} already used it.`,
  )
  for (const reason of new Set(results.flatMap(({ reasons }) => reasons))) printError(reason)
  if (sum('unreadable') > 0) fail(`${sum('unreadable')} records cannot be decrypted and were not changed.`)
} catch (error) {
  fail(error instanceof StoreUnavailableError ? storeProblem(error) : error)
}
