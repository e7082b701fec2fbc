import { platform } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import type { Config, Finding } from '../../web/feature-api.ts'
import { loadContracts } from '../contracts.ts'
import { loadTools } from '../load.ts'
import { createClient } from './client.ts'
import { noAnswer, warning } from './findings.ts'
import { checkPlatform } from './platform/addresses.ts'
import { isSandbox } from './registration.ts'
import { checkStore } from './store.ts'

/** What the doctor checks, and how long it waits for an answer. */
export interface DoctorOptions {
  config: Config
  /** If undefined, the store is not checked. */
  store: KeyValueStore | undefined
  /** How long an answer may take, in ms; 5 s by default. The token endpoint has the timeout in the contract. */
  timeoutMs?: number
}

/**
 * Checks the store, the platform's addresses, our registration there, and the features' needs. Doesn't change data on the platform:
 * it opens pages without a login, and sends codes and tokens that were never issued. Features' checks may log in. In the store, it
 * writes a small temporary value.
 */
export async function* runDoctor({ config, store, timeoutMs }: DoctorOptions): AsyncGenerator<Finding> {
  const { baseUrl, platform: settings } = config
  const { apiUrl } = settings
  if (store) yield* checkStore(store, config)
  const client = createClient(settings, timeoutMs)
  const failed = new Set<string | undefined>()
  try {
    for await (const finding of checkPlatform({ platform, ...settings, baseUrl, client })) {
      if (finding.status === 'failure') failed.add(finding.setting)
      yield finding
    }
    if (!failed.has('PLATFORM_SCOPES')) yield* await missingScopes(settings.scopes)
    // A wrong address or proxy is already reported, and would make the following checks fail too.
    if (['PLATFORM_API_URL', 'HTTPS_PROXY', 'HTTP_PROXY'].some((setting) => failed.has(setting))) return
    const context = { http: client.http, apiUrl, isSandbox: isSandbox(settings), noAnswer }
    for (const [name, check] of await loadTools('check'))
      yield* await check(context, config.features[name]).catch((error: Error) => [checkFailed(name, error)])
  } finally {
    await client.close()
  }
}

/** The finding for a check that threw an error. `name`: the subject of the check. */
export const checkFailed = (name: string, error: Error): Finding => ({
  id: 'check.failed',
  status: 'failure',
  text: `${name}: the check failed: ${error.message}`,
})

/** Finds scopes that a feature needs but no consent requests, so that the feature's pages would never work. */
async function missingScopes(requested: readonly string[]): Promise<Finding[]> {
  const needs = (await loadContracts()).filter(({ scopes }) =>
    Object.keys(scopes).some((scope) => !requested.includes(scope)),
  )
  if (needs.length === 0) return []
  const value = [...new Set([...requested, ...needs.flatMap(({ scopes }) => Object.keys(scopes))])].join(' ')
  const names = needs.map(({ name }) => name).join(', ')
  const text = `it lacks scopes that these features need: ${names}. Set PLATFORM_SCOPES=${value}, or remove what you do not use with npm run remove-feature`
  return [warning('scopes', 'PLATFORM_SCOPES', text, value)]
}
