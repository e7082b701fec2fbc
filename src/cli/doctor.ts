/** `npm run doctor`: checks the settings, the store and the platform's URLs. Exits with 1 if a check fails. */
import '../runtime/env-file.ts'
import type { Config } from '../config.ts'
import { redirectUrls } from '../connect/authorization/routes.ts'
import { createHttp } from '../connect/platform/http.ts'
import { type KeyValueStore, StoreUnavailableError } from '../connect/store/store.ts'
import { createDependencies } from '../dependencies.ts'
import type { Finding } from '../features/feature.ts'
import { features } from '../features/index.ts'
import { createLog } from '../runtime/log.ts'
import { configOf } from '../runtime/run-app.ts'
import { fail } from '../runtime/serve.ts'
import { ready } from '../runtime/store-ready.ts'

let healthy = true
function print({ ok, text }: Finding): void {
  if (!ok) healthy = false
  console.log(`${ok ? 'ok   ' : 'FAIL '} ${text}`)
}

async function checkStore(store: KeyValueStore, config: Config): Promise<void> {
  try {
    await ready(store)
    print({ ok: true, text: `store: ${store.description}` })
    for (const warning of await store.warnings()) console.log(`warn  ${warning}`)
    let connections = 0
    for await (const { value } of store.scan('connection')) {
      connections++
      const keyId = value.split('.')[1]
      if (!config.tokenEncryptionKeys.some(({ id }) => id === keyId))
        print({
          ok: false,
          text: `a connection is encrypted with the missing key "${keyId}": add it to TOKEN_ENCRYPTION_KEYS`,
        })
    }
    print({ ok: true, text: `store: ${connections} connections` })
  } catch (error) {
    const reason = error instanceof StoreUnavailableError ? error.reason : (error as Error).message
    print({ ok: false, text: `store: ${reason}` })
  }
}

/** Checks that the platform's URLs respond, with any status. */
async function checkAddresses({ platform }: Config): Promise<void> {
  const http = createHttp({ connectTimeoutMs: 3_000, stepTimeoutMs: 3_000, deadlineMs: 4_000 })
  for (const name of ['appUrl', 'authUrl', 'apiUrl'] as const) {
    const url = platform[name]
    await http.send({ method: 'GET', url }).then(
      ({ status }) => print({ ok: true, text: `platform ${name}: ${url} responds (${status})` }),
      (error: { reason?: string }) => print({ ok: false, text: `platform ${name}: ${url}: ${error.reason}` }),
    )
  }
  await http.close()
}

try {
  const config = configOf(process.env)
  print({ ok: true, text: 'settings: complete' })
  const { store, context, close } = await createDependencies(config, createLog('silent'), features)
  await checkStore(store, config)
  await checkAddresses(config)
  for (const { name, check } of features)
    for (const finding of (await check?.(context, config.features[name])) ?? []) print(finding)
  await close()
  console.log(
    `      redirect URLs to register with the platform: ${redirectUrls(config.baseUrl).join(' and ')}`,
  )
} catch (error) {
  fail(error)
}
process.exit(healthy ? 0 : 1)
