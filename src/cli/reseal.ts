/** `npm run reseal`: seals every stored connection with the first of TOKEN_KEYS, so that an older key can go. */
import { createLog } from '../log.ts'
import { configOf } from '../run-app.ts'
import { fail } from '../serve.ts'
import { createServices } from '../services.ts'
import { ready } from './ready.ts'

try {
  const services = await createServices(configOf(process.env), createLog('silent'))
  await ready(services.store)
  const { resealed, current, unreadable } = await services.vault.reseal()
  await services.close()
  const [key] = services.config.tokenKeys
  console.log(`${resealed} connections sealed again with the key "${key?.id}", ${current} were already.`)
  for (const reason of new Set(unreadable)) console.error(reason)
  if (unreadable.length > 0)
    fail(`${unreadable.length} connections could not be read and were left as they are.`)
} catch (error) {
  fail(error)
}
