import type { Finding } from '../../../web/kit.ts'
import { isResponse, type Response } from '../answers.ts'
import { failure, noAnswer, ok, warning } from '../findings.ts'
import { checkApi, isApi } from './api.ts'
import { checkConsentPage } from './consent-page.ts'
import { checkProxy, usesProxy } from './proxy.ts'
import { checkRevocation } from './revocation.ts'
import { checkStartPage, isStartPage } from './start-page.ts'
import type { AddressCheck, Target } from './target.ts'
import { checkTokenEndpoint, isTokenEndpoint } from './token-endpoint.ts'

/** The three addresses: the setting of each, and a test by what only the right place answers. */
const ADDRESSES = {
  appUrl: { setting: 'PLATFORM_APP_URL', isRight: isStartPage },
  authUrl: { setting: 'PLATFORM_AUTH_URL', isRight: isTokenEndpoint },
  apiUrl: { setting: 'PLATFORM_API_URL', isRight: isApi },
} as const

type Address = keyof typeof ADDRESSES
const NAMES = ['appUrl', 'authUrl', 'apiUrl'] as const satisfies Address[]
const settingsOf = (names: readonly Address[]) => names.map((name) => ADDRESSES[name].setting)

/** What the checks found at each address that could be reached. */
type Checks = Partial<Record<Address, AddressCheck & { others?: Finding[] }>>

/** Checks the platform's addresses, our registration there, the proxy and the clock. */
export async function* checkPlatform(target: Target): AsyncGenerator<Finding> {
  const proxied = NAMES.filter((name) => usesProxy(new URL(target[name]), target.proxies))
  const proxy = await checkProxy(target.proxies)
  // The app works without a proxy that no address uses.
  if (proxy) yield proxied.length > 0 || proxy.status === 'ok' ? proxy : { ...proxy, status: 'warning' }
  yield* checkSandboxSetting(target)
  const reached = proxy?.status === 'failure' ? NAMES.filter((name) => !proxied.includes(name)) : NAMES
  const reachable: Address[] = []
  const reported = new Set<string>()
  for (const { names, finding } of await reachOrigins(reached, target)) {
    if (!finding) reachable.push(...names)
    // A proxy that refuses is one finding, whatever it was asked for.
    else if (!reported.has(finding.text)) yield finding
    if (finding) reported.add(finding.text)
  }
  const checks: Checks = {}
  if (reachable.includes('appUrl')) checks.appUrl = await checkStartPage(target)
  if (reachable.includes('authUrl')) checks.authUrl = await checkIdentityProvider(target)
  if (reachable.includes('apiUrl')) checks.apiUrl = await checkApi(target)
  yield* addressFindings(checks, target)
  const revocation = await checkRevocation(target)
  if (revocation) yield revocation
  yield* checkClock(target.client.clockOffsets)
}

/** Groups the addresses by origin, so that a host that cannot be reached is one finding. */
async function reachOrigins(
  reached: readonly Address[],
  target: Target,
): Promise<{ names: Address[]; finding?: Finding | undefined }[]> {
  const origins = Map.groupBy(reached, (name) => new URL(target[name]).origin)
  const attempts = [...origins.values()].map(async (names) => {
    const [first = 'appUrl'] = names
    const url = target[first]
    const answer = await target.client.get(url)
    if (isResponse(answer)) return { names, finding: movedFinding(names, target, answer) }
    const finding = noAnswer(settingsOf(names).join(', '), url, answer)
    const isSandbox = target.sandboxUrl !== undefined && answer.error === 'ECONNREFUSED'
    const hint = isSandbox ? '. Start the sandbox with `npm run sandbox`, or enter your own addresses' : ''
    return { names, finding: { ...finding, text: finding.text + hint } }
  })
  return Promise.all(attempts)
}

/** An address that redirects to https: a browser follows, but a token must not be sent to the address before that. */
function movedFinding(names: Address[], target: Target, { url, location }: Response): Finding | undefined {
  if (url.protocol !== 'http:' || location?.protocol !== 'https:' || location.hostname !== url.hostname)
    return undefined
  const settings = settingsOf(names)
  const values = names.map((name) => location.origin + new URL(target[name]).pathname.replace(/\/+$/, ''))
  const cures = settings.map((setting, index) => `${setting}=${values[index]}`)
  const text = `${url.origin} redirects to ${location.origin}. Set ${cures.join(' and ')}`
  return failure('address.moved', settings.join(', '), text, values[0])
}

/** The token endpoint comes first: what it says about the client helps to understand the consent page. */
async function checkIdentityProvider(target: Target): Promise<AddressCheck & { others?: Finding[] }> {
  const { finding, isWrong = false, isClientKnown, ifIdIsKnown } = await checkTokenEndpoint(target)
  if (isWrong) return { finding, isWrong }
  const consent = await checkConsentPage(target, isClientKnown)
  const [first = finding, ...others] = consent.findings
  // `token.client` means the id or the secret; the consent page may have told which.
  if (ifIdIsKnown && consent.isClientKnown) return { finding: first, others: [...others, ifIdIsKnown] }
  if (ifIdIsKnown && first.id === 'consent.client-id') return { finding: first, others }
  return { finding: first, others: [...others, finding] }
}

/** The findings of all addresses, with the likely value of those that are wrong. */
async function* addressFindings(checks: Checks, target: Target): AsyncGenerator<Finding> {
  for (const name of NAMES) {
    const check = checks[name]
    if (!check) continue
    const value = check.isWrong && (await likelyAddress(name, target))
    yield value ? withValue(check.finding, value) : check.finding
    yield* check.others ?? []
  }
}

/** Paths below which authorization servers and APIs often are. */
const COMMON_PATHS = ['/auth', '/oauth2', '/api', '/v1', '/api/v1']

/**
 * Where the right place for a setting is: at the address of another setting, or on the same host without the end of the path,
 * or with a usual path.
 */
async function likelyAddress(name: Address, target: Target): Promise<string | undefined> {
  const { origin, pathname } = new URL(target[name])
  const parts = pathname.split('/').filter(Boolean)
  const parents = parts.map((_, index) => ['', ...parts.slice(0, index)].join('/')).reverse()
  const onHost = [...parents, ...COMMON_PATHS].map((path) => origin + path)
  for (const address of new Set([...NAMES.map((other) => target[other]), ...onHost]))
    if (address !== target[name] && (await ADDRESSES[name].isRight({ ...target, [name]: address })))
      return address
  return undefined
}

/** The finding with the likely value in place of the advice to check the address. */
function withValue(finding: Finding, value: string): Finding {
  const [what] = finding.text.split('. Check the address')
  return { ...finding, value, text: `${what}. Set ${finding.setting}=${value}` }
}

function* checkSandboxSetting(target: Target): Generator<Finding> {
  const { sandboxUrl } = target
  if (!sandboxUrl || NAMES.some((name) => new URL(target[name]).origin === new URL(sandboxUrl).origin)) return
  const text = 'pages link to the sandbox, but no address of the platform is there. Remove SANDBOX_URL'
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
  const text = `clock: this machine is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} the platform. Set its clock (NTP); tokens would be used too long or refreshed too often, and webhooks refused`
  yield { id: 'clock', status: 'warning', text }
}
