import type { Config } from '../config.ts'
import type { KeyValueStore } from '../connect/index.ts'
import { createHttp } from '../connect/platform/http.ts'
import type { Feature } from '../features/feature.ts'
import type { Finding } from './finding.ts'
import { createDoctorHttp } from './http.ts'
import { checkPlatform } from './platform.ts'
import { checkStore } from './store.ts'

export interface DoctorOptions {
  config: Config
  /** Undefined: the store is not checked. */
  store: KeyValueStore | undefined
  features: readonly Feature[]
}

/**
 * Checks the store, the platform's addresses, our registration there and what the features need. Changes nothing: it
 * writes one key, which it deletes, and sends the platform requests that it must refuse.
 */
export async function* runDoctor({ config, store, features }: DoctorOptions): AsyncGenerator<Finding> {
  if (store) yield* checkStore(store, config)
  const { platform, baseUrl } = config
  const { clientId, clientSecret } = platform
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const doctorHttp = createDoctorHttp(platform.proxies, [clientSecret, basic])
  const http = createHttp({ proxies: platform.proxies })
  const failures: string[] = []
  try {
    for await (const finding of checkPlatform({ ...platform, baseUrl }, doctorHttp)) {
      if (finding.status === 'failure') failures.push(finding.text)
      yield finding
    }
    for (const { name, check } of features) {
      const findings = (await check?.({ http, apiUrl: platform.apiUrl }, config.features[name])) ?? []
      // A wrong address of the API is one finding.
      yield* findings.filter(({ setting = 'none' }) => !failures.some((text) => text.includes(setting)))
    }
  } finally {
    await Promise.all([doctorHttp.close(), http.close()])
  }
}
