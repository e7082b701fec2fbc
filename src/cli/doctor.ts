/** `npm run doctor`: checks the settings, the store and the platform's addresses, and says what to do. */
import '../runtime/env-file.ts'
import { createHttp } from '../connect/platform/http.ts'
import { StoreUnavailableError } from '../connect/store/store.ts'
import { createFirstPartyAccess } from '../features/first-party/access.ts'
import { explain } from '../features/first-party/by-api-key.ts'
import { createFirstParty } from '../features/first-party/first-party.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'
import { openStore } from '../services.ts'
import { ready } from './ready.ts'

let healthy = true
const good = (line: string) => console.log(`ok    ${line}`)
const bad = (line: string) => {
  healthy = false
  console.log(`FAIL  ${line}`)
}
const warn = (line: string) => console.log(`warn  ${line}`)

try {
  const config = configOf(process.env)
  good('settings: complete')

  const { store } = await openStore(config, createLog('silent'))
  try {
    await ready(store)
    good(`store: ${store.description}`)
    for (const warning of await store.warnings()) warn(warning)
    let connections = 0
    for await (const { value } of store.scan('connection')) {
      connections++
      const keyId = value.split('.')[1]
      if (!config.tokenKeys.some(({ id }) => id === keyId))
        bad(`a connection needs the key "${keyId}", which TOKEN_KEYS lacks`)
    }
    good(`store: ${connections} connections`)
  } catch (error) {
    bad(`store: ${error instanceof StoreUnavailableError ? error.reason : (error as Error).message}`)
  }

  const http = createHttp({ connectMs: 3_000, answerMs: 3_000, deadlineMs: 4_000 })
  for (const name of ['appUrl', 'authUrl', 'apiUrl'] as const) {
    const url = config.platform[name]
    // Any answer will do: only the real flow can tell more.
    await http.send({ method: 'GET', url }).then(
      ({ status }) => good(`platform ${name}: ${url} answers (${status})`),
      (error: { reason?: string }) => bad(`platform ${name}: ${url}: ${error.reason}`),
    )
  }
  const { firstParty: credentials, apiUrl: baseUrl } = config.platform
  if (credentials) {
    const firstParty = createFirstParty({ ...credentials, baseUrl, http })
    const log = createLog('silent')
    const access = createFirstPartyAccess({ store, keys: config.tokenKeys, firstParty, credentials, log })
    await access.accessToken().then(
      () => good(`first-party access: ${credentials.email} has a token`),
      (error: unknown) => bad(`first-party access: ${explain(error)}`),
    )
  }
  await http.close()
  await store.close()
  console.log(
    `      to register with the platform: ${config.baseUrl}/connect/context and ${config.baseUrl}/connect/callback`,
  )
} catch (error) {
  fail(error)
}
process.exit(healthy ? 0 : 1)
