import { sentTo } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import { isResponse, type Response } from '../answers.ts'
import { failure, noAnswer, ok, warning } from '../findings.ts'
import { checkApi } from './api.ts'
import { checkConsentPage } from './consent-page.ts'
import { checkRevocation } from './revocation.ts'
import { checkStartPage } from './start-page.ts'
import { discover, type Metadata, type Target } from './target.ts'
import { checkTokenEndpoint, wrongSecret } from './token-endpoint.ts'

/** The three addresses, and the setting of each. */
const SETTINGS = {
  appUrl: 'PLATFORM_APP_URL',
  authUrl: 'PLATFORM_AUTH_URL',
  apiUrl: 'PLATFORM_API_URL',
} as const

type Address = keyof typeof SETTINGS
const NAMES = ['appUrl', 'authUrl', 'apiUrl'] as const satisfies Address[]
const settingsOf = (names: readonly Address[]) => names.map((name) => SETTINGS[name])

/** Checks the platform's addresses, our registration there, and the clock. */
export async function* checkPlatform(target: Target): AsyncGenerator<Finding> {
  const { httpsProxy, httpProxy } = target.proxies ?? {}
  const hosts = new Set([httpsProxy, httpProxy].flatMap((proxy) => (proxy ? [new URL(proxy).host] : [])))
  if (hosts.size > 0)
    yield ok(
      'proxy',
      `HTTPS_PROXY, HTTP_PROXY: ${[...hosts].join(', ')}, for all hosts except those in NO_PROXY`,
    )
  yield* checkSandboxSetting(target)
  const reachable: Address[] = []
  const reported = new Set<string>()
  for (const { names, finding } of await reachOrigins(target)) {
    if (!finding) reachable.push(...names)
    // A proxy that refuses calls is reported once, whatever the calls were for.
    else if (!reported.has(finding.text)) yield finding
    if (finding) reported.add(finding.text)
  }
  if (reachable.includes('appUrl')) yield await checkStartPage(target)
  const metadata = reachable.includes('authUrl') ? await discover(target) : undefined
  if (reachable.includes('authUrl')) yield* await checkAuthorizationServer(target, metadata)
  if (reachable.includes('apiUrl')) yield await checkApi(target)
  const revocation = await checkRevocation(target, metadata)
  if (revocation) yield revocation
  yield* checkClock(target.client.clockOffsets)
}

const SANDBOX_HINT = '. Start the sandbox with `npm run sandbox`, or enter your own addresses'
const PROXY_HINT = '. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY as well: the proxy itself may not answer'

/** Groups the addresses by origin, so that a host that cannot be reached is one finding. */
async function reachOrigins(target: Target): Promise<{ names: Address[]; finding?: Finding | undefined }[]> {
  const origins = Map.groupBy<string, Address>(NAMES, (name) => new URL(target[name]).origin)
  const attempts = [...origins.values()].map(async (names) => {
    const [first = 'appUrl'] = names
    const url = target[first]
    const answer = await target.client.get(url)
    if (isResponse(answer)) return { names, finding: movedFinding(names, target, answer) }
    const { href, origin } = sentTo(url, target.internalUrls)
    const isInternal = origin !== new URL(url).origin
    const settings = [...(isInternal ? ['INTERNAL_URLS'] : []), ...settingsOf(names)].join(', ')
    const finding = noAnswer(settings, isInternal ? href : url, answer)
    const isSandbox = target.sandboxUrl !== undefined && answer.error === 'ECONNREFUSED'
    // undici decides which calls go through a proxy (NO_PROXY), and does not say whether the proxy refused this one.
    const isProxyPossible = target.proxies !== null && finding.id.startsWith('address.')
    const hint = isSandbox ? SANDBOX_HINT : isProxyPossible ? PROXY_HINT : ''
    return { names, finding: { ...finding, text: finding.text + hint } }
  })
  return Promise.all(attempts)
}

/** Finds an address that redirects to https. A browser follows the redirect, but the app must not send a token to http first. */
function movedFinding(names: Address[], target: Target, { url, location }: Response): Finding | undefined {
  if (url.protocol !== 'http:' || location?.protocol !== 'https:' || location.hostname !== url.hostname)
    return undefined
  const settings = settingsOf(names)
  const values = names.map((name) => location.origin + new URL(target[name]).pathname.replace(/\/+$/, ''))
  const cures = settings.map((setting, index) => `${setting}=${values[index]}`)
  const text = `${url.origin} redirects to ${location.origin}. Set ${cures.join(' and ')}`
  return failure('address.moved', settings.join(', '), text, values[0])
}

/**
 * Checks the token endpoint first, because its answer helps to explain why the consent page refuses us. The consent page, in turn,
 * helps to tell a wrong client id from a wrong secret.
 */
async function checkAuthorizationServer(target: Target, metadata: Metadata | undefined): Promise<Finding[]> {
  const token = await checkTokenEndpoint(target, metadata)
  if (token.id === 'token.not-found') return [token]
  const isRefused = token.id === 'token.client'
  const { findings, isClientKnown } = await checkConsentPage(target, metadata, isRefused)
  if (!isRefused) return [...findings, token]
  if (findings.some(({ id }) => id === 'consent.client-id')) return findings
  return [...findings, isClientKnown ? wrongSecret(target) : token]
}

function* checkSandboxSetting(target: Target): Generator<Finding> {
  const { sandboxUrl } = target
  if (!sandboxUrl || NAMES.some((name) => new URL(target[name]).origin === new URL(sandboxUrl).origin)) return
  const text = 'pages link to the sandbox, but the platform is not the sandbox. Remove SANDBOX_URL'
  yield warning('sandbox-url', 'SANDBOX_URL', text)
}

const MAX_CLOCK_OFFSET_MS = 60_000

function* checkClock(clockOffsets: readonly number[]): Generator<Finding> {
  const sorted = clockOffsets.toSorted((one, other) => one - other)
  const offset = sorted[Math.floor(sorted.length / 2)]
  if (offset === undefined) return
  if (Math.abs(offset) <= MAX_CLOCK_OFFSET_MS) {
    yield ok('clock', 'clock: agrees with the platform within 60 s')
    return
  }
  const seconds = Math.round(Math.abs(offset) / 1000)
  const text = `clock: this machine is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} the platform. Set its clock (NTP). Otherwise, the app uses tokens too long or refreshes them too often, and may refuse webhooks`
  yield { id: 'clock', status: 'warning', text }
}
