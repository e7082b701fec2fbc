/** `npm run reencrypt`: encrypts every stored connection with the first of TOKEN_KEYS, so that an older key can go. */
import '../runtime/env-file.ts'
import { createRecordCipher } from '../connect/vault/encryption.ts'
import { createRecords } from '../connect/vault/records.ts'
import { FIRST_PARTY } from '../features/first-party/access.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'
import { createServices } from '../services.ts'
import { ready } from './ready.ts'

try {
  const services = await createServices(configOf(process.env), createLog('silent'))
  await ready(services.store)
  const { store, config } = services
  // First-party tokens are kept as connections are, under a kind of their own.
  const firstParty = createRecords(store, createRecordCipher(config.tokenKeys), FIRST_PARTY)
  const counts = [await services.vault.reencrypt(), await firstParty.reencrypt()]
  await services.close()
  const reencrypted = counts.reduce((sum, count) => sum + count.reencrypted, 0)
  const current = counts.reduce((sum, count) => sum + count.current, 0)
  const unreadable = counts.flatMap((count) => count.unreadable)
  const [key] = services.config.tokenKeys
  console.log(`${reencrypted} connections encrypted with the key "${key?.id}", ${current} were already.`)
  for (const reason of new Set(unreadable)) console.error(reason)
  if (unreadable.length > 0)
    fail(`${unreadable.length} connections could not be read and were left as they are.`)
} catch (error) {
  fail(error)
}
