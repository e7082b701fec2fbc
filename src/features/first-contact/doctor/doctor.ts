import type { Config } from '../../../config.ts'
import { createHttp, type Proxies, platform } from '../../../connect/index.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import type { OidcProvider } from '../../../web/oidc-discovery.ts'
import { loadContracts } from '../../contracts.ts'
import { loadTools } from '../../load.ts'
import type { CheckTool, Finding } from '../../tools.ts'
import { failure, warning } from './finding.ts'
import { createDoctorHttp, hide } from './http.ts'
import { checkPlatform } from './platform.ts'
import { checkSignIn } from './sign-in.ts'
import { checkStore } from './store.ts'
import type { Target } from './target.ts'

/** What the doctor checks. */
export interface DoctorOptions {
  config: Config
  /** Undefined: the store is not checked. */
  store: KeyValueStore | undefined
}

/**
 * Checks the store, the platform's addresses, our registration there and what the features need. Changes nothing on
 * the platform: it sends requests that must be refused, and logs in with the API key if there is one. In the store, it
 * writes one key and deletes it.
 */
export async function* runDoctor({ config, store }: DoctorOptions): AsyncGenerator<Finding> {
  if (store) yield* checkStore(store, config)
  if (config.oidc)
    yield await checkProvider({ ...config.oidc, baseUrl: config.baseUrl }, config.platform.proxies)
  const target: Target = { platform, ...config.platform, baseUrl: config.baseUrl }
  const secrets = formsOf(target)
  const doctorHttp = createDoctorHttp(target.proxies, platform.tokenEndpointMs, secrets)
  const http = createHttp({ proxies: target.proxies })
  const failed = new Set<string | undefined>()
  try {
    for await (const finding of checkPlatform(target, doctorHttp)) {
      if (finding.status === 'failure') failed.add(finding.setting)
      yield withoutSecrets(finding, secrets)
    }
    if (!failed.has('PLATFORM_SCOPES')) yield* await missingScopes(target.scopes)
    // What fails because of the address or the proxy is reported already.
    if (['PLATFORM_API_URL', 'HTTPS_PROXY', 'HTTP_PROXY'].some((setting) => failed.has(setting))) return
    const context = { http, apiUrl: target.apiUrl, isSandbox: isSandbox(target) }
    for (const [name, check] of await loadTools<CheckTool>('check.ts'))
      yield* await checkFeature(name, () => check(context, config.features[name]))
  } finally {
    await Promise.all([doctorHttp.close(), http.close()])
  }
}

/** Uses a separate client, because the platform's client records how far the platform's clock is off. */
async function checkProvider(
  oidc: OidcProvider & { baseUrl: string },
  proxies: Proxies | null,
): Promise<Finding> {
  const http = createDoctorHttp(proxies, platform.tokenEndpointMs)
  return checkSignIn(oidc, http).finally(() => http.close())
}

/** Scopes that a feature needs and that no consent asks for: its pages would never work. */
async function missingScopes(requested: readonly string[]): Promise<Finding[]> {
  const contracts = await loadContracts()
  const needs = contracts.filter(({ scopes }) =>
    Object.keys(scopes).some((scope) => !requested.includes(scope)),
  )
  if (needs.length === 0) return []
  const value = [...new Set([...requested, ...needs.flatMap(({ scopes }) => Object.keys(scopes))])].join(' ')
  const names = needs.map(({ name }) => name).join(', ')
  const text = `PLATFORM_SCOPES: it lacks scopes of ${names}. Set PLATFORM_SCOPES=${value}, or remove what you do not use with npm run remove-feature`
  return [warning('scopes', text, { setting: 'PLATFORM_SCOPES', value })]
}

async function checkFeature(name: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  return check().catch((error: Error) => [
    failure('check.failed', `${name}: the check failed: ${error.message}`),
  ])
}

const isSandbox = ({ sandboxUrl, apiUrl }: Config['platform']) =>
  sandboxUrl !== undefined && new URL(sandboxUrl).origin === new URL(apiUrl).origin

/** Responses are quoted: what decoding them revealed must not be printed. */
const withoutSecrets = (finding: Finding, secrets: readonly string[]): Finding => ({
  ...finding,
  text: hide(finding.text, secrets),
})

/** The client secret in all forms in which a response may repeat it. */
function formsOf({ clientId, clientSecret }: Config['platform']): string[] {
  const form = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const html = clientSecret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
  return [
    clientSecret,
    form(clientSecret),
    encodeURIComponent(clientSecret),
    json(clientSecret),
    json(json(clientSecret)),
    json(clientSecret).replaceAll('/', '\\/'),
    html,
    base64(clientSecret),
    base64(`${clientId}:${clientSecret}`),
    base64(`${form(clientId)}:${form(clientSecret)}`),
  ]
}
