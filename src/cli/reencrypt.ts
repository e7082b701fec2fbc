/**
 * `npm run reencrypt`: re-encrypts all records with the first key, so that older keys can be removed. Run again after an
 * interruption, it only reads the records that are done.
 */
import '../runtime/env-file.ts'
import type { ReencryptResult } from '../connect/index.ts'
import { loadTools } from '../features/load.ts'
import type { ReencryptTool } from '../features/tools.ts'
import { print, printError } from '../runtime/print.ts'
import { withApp } from './with-app.ts'

/** How often the progress is printed, in ms. */
const PROGRESS_MS = 2_000

let printedAt = performance.now()
function printProgress({ reencrypted, current }: ReencryptResult): void {
  if (performance.now() - printedAt < PROGRESS_MS) return
  printedAt = performance.now()
  printError(`${reencrypted} records re-encrypted so far; ${current} already used the first key.`)
}

await withApp(async ({ config, connect, deps }) => {
  const results = [await connect.vault.reencrypt(printProgress)]
  for (const reencrypt of (await loadTools<ReencryptTool>('reencrypt.ts')).values())
    results.push(await reencrypt(deps, printProgress))
  const sum = (name: 'reencrypted' | 'current' | 'unreadable') =>
    results.reduce((total, result) => total + result[name], 0)
  const [key] = config.tokenEncryptionKeys
  print(
    `${sum('reencrypted')} records re-encrypted with the key "${key?.id}"; ${sum('current')} already used it.`,
  )
  for (const reason of new Set(results.flatMap(({ reasons }) => reasons))) printError(reason)
  if (sum('unreadable') > 0)
    throw new Error(`${sum('unreadable')} records cannot be decrypted and were not changed.`)
})
