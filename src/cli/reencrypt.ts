/**
 * `npm run reencrypt`: re-encrypts all records with the first key, so that older keys can be removed. If you run it again after an
 * interruption, it only reads the finished records, and re-encrypts the rest.
 */
import '../runtime/env-file.ts'
import { type Reencryption, reencrypt } from '../connect/index.ts'
import { print, printError } from '../runtime/print.ts'
import { withApp } from './with-app.ts'

/** How often the progress is printed, in ms. */
const PROGRESS_MS = 2_000

const counts = { reencrypted: 0, current: 0, unreadable: 0 }
/** The reasons why records cannot be decrypted. */
const reasons = new Set<string>()
let printedAt = performance.now()

function count(outcome: Reencryption): void {
  counts[typeof outcome === 'string' ? outcome : 'unreadable']++
  if (typeof outcome !== 'string') reasons.add(outcome.message)
  if (performance.now() - printedAt < PROGRESS_MS) return
  printedAt = performance.now()
  const { reencrypted, current } = counts
  printError(`${reencrypted} records re-encrypted so far; ${current} already used the first key.`)
}

await withApp(async ({ config, store }) => {
  const { tokenEncryptionKeys: keys } = config
  for await (const outcome of reencrypt(store, keys)) count(outcome)
  const [key] = keys
  const { reencrypted, current, unreadable } = counts
  print(`${reencrypted} records re-encrypted with the key "${key?.id}"; ${current} already used it.`)
  for (const reason of reasons) printError(reason)
  if (unreadable > 0) throw new Error(`${unreadable} records cannot be decrypted and were not changed.`)
})
