/** `npm run reencrypt`: re-encrypts all records with the first key, so that older keys can be removed. */
import '../runtime/env-file.ts'
import { createDependencies } from '../dependencies.ts'
import { features } from '../features/index.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'
import { ready } from '../runtime/store-ready.ts'

try {
  const { config, store, connect, parts, close } = await createDependencies(
    configOf(process.env),
    createLog('silent'),
    features,
  )
  await ready(store)
  const results = [await connect.vault.reencrypt()]
  for (const part of parts) if (part.reencrypt) results.push(await part.reencrypt())
  await close()
  const reencrypted = results.reduce((sum, result) => sum + result.reencrypted, 0)
  const current = results.reduce((sum, result) => sum + result.current, 0)
  const unreadable = results.flatMap((result) => result.unreadable)
  const [key] = config.tokenEncryptionKeys
  console.log(`${reencrypted} records re-encrypted with the key "${key?.id}"; ${current} already used it.`)
  for (const reason of new Set(unreadable)) console.error(reason)
  if (unreadable.length > 0) fail(`${unreadable.length} records cannot be decrypted and were not changed.`)
} catch (error) {
  fail(error)
}
