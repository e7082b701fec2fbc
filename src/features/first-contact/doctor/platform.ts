import type { Finding } from '../../tools.ts'
import { checkApi, isApiAt } from './api.ts'
import { type ConsentCheck, checkConsentPage } from './consent-page.ts'
import { failure, isResponse, noAnswer, ok, warning } from './finding.ts'
import type { DoctorHttp, Response } from './http.ts'
import { checkProxy, usesProxy } from './proxy.ts'
import { checkRevocation } from './revocation.ts'
import { checkStartPage, isStartPage } from './start-page.ts'
import type { AddressCheck, Target } from './target.ts'
import {
  checkTokenEndpoint,
  isTokenEndpoint,
  type TokenEndpointCheck,
  wrongSecret,
} from './token-endpoint.ts'

/** The three addresses: the setting of each, and a test by what only the right place answers. */
const ADDRESSES = {
  appUrl: {
    setting: 'PLATFORM_APP_URL',
    isAt: isStartPage,
  },
  authUrl: { setting: 'PLATFORM_AUTH_URL', isAt: isTokenEndpoint },
  apiUrl: { setting: 'PLATFORM_API_URL', isAt: isApiAt },
} as const

type Address = keyof typeof ADDRESSES
const NAMES = Object.keys(ADDRESSES) as Address[]

const MAX_CLOCK_OFFSET_MS = 60_000

/** Checks the platform's addresses, our registration there, the proxy and the clock. */
export async function* checkPlatform(target: Target, http: DoctorHttp): AsyncGenerator<Finding> {
  const proxied = NAMES.filter((name) => usesProxy(new URL(target[name]), target.proxies))
  const proxy = await checkProxy(target.proxies)
  // The app works without a proxy that no address uses.
  if (proxy) yield proxied.length > 0 || proxy.status === 'ok' ? proxy : { ...proxy, status: 'warning' }
  const isProxyDown = proxy?.status === 'failure'
  yield* checkSandboxSetting(target)
  const reachable: Address[] = []
  const reported = new Set<string>()
  for (const { names, finding } of await probeOrigins(
    isProxyDown ? NAMES.filter((name) => !proxied.includes(name)) : NAMES,
    target,
    http,
  )) {
    if (!finding) reachable.push(...names)
    // A proxy that refuses is one finding, whatever it was asked for.
    else if (!reported.has(finding.text)) yield finding
    if (finding) reported.add(finding.text)
  }
  const checks: Partial<Record<Address, AddressCheck>> = {}
  if (reachable.includes('appUrl')) checks.appUrl = await checkStartPage(http, target)
  if (reachable.includes('authUrl')) checks.authUrl = await checkIdentityProvider(http, target)
  if (reachable.includes('apiUrl')) checks.apiUrl = await checkApi(http, target)
  shortenAdvice(checks)
  yield* addressFindings(checks, target, http)
  const revocation = await checkRevocation(http, target)
  if (revocation) yield revocation
  yield* checkClock(http)
}

/** Groups the addresses by origin, so that a host that cannot be reached is one finding. */
async function probeOrigins(reached: Address[], target: Target, http: DoctorHttp) {
  const origins = Map.groupBy(reached, (name) => new URL(target[name]).origin)
  const probes = [...origins.values()].map(async (names) => {
    const url = target[names[0] as Address]
    const answer = await http.send(url)
    if (isResponse(answer)) return { names, finding: movedFinding(names, target, answer) }
    const finding = noAnswer(
      names.map((name) => ADDRESSES[name].setting),
      url,
      answer,
    )
    if (await speaksTls(url, answer.error, http)) return { names, finding: needsHttps(names, target) }
    const isSandbox = target.sandboxUrl !== undefined && answer.error === 'ECONNREFUSED'
    const hint = isSandbox ? '. Start the sandbox with `npm run sandbox`, or enter your own addresses' : ''
    return { names, finding: { ...finding, text: finding.text + hint } }
  })
  return Promise.all(probes)
}

/** Whether a server that closes http connections answers https. */
async function speaksTls(url: string, error: string, http: DoctorHttp): Promise<boolean> {
  if (!url.startsWith('http:') || !/ECONNRESET|UND_ERR_SOCKET|HPE_/.test(error)) return false
  const answer = await http.send(url.replace('http:', 'https:'))
  return isResponse(answer) || noAnswer([], url, answer).id.startsWith('tls.')
}

function needsHttps(names: Address[], target: Target): Finding {
  const settings = names.map((name) => ADDRESSES[name].setting)
  const values = names.map((name) => target[name].replace(/^http:/, 'https:'))
  const cures = settings.map((setting, index) => `${setting}=${values[index]}`)
  const text = `${settings.join(', ')}: the server answers https only. Set ${cures.join(' and ')}`
  return failure('address.moved', text, { setting: settings[0] ?? '', value: values[0] ?? '' })
}

/** An address that redirects to https: a browser follows, but a token must not be sent to the address before that. */
function movedFinding(names: Address[], target: Target, { url, location }: Response): Finding | undefined {
  if (url.protocol !== 'http:' || location?.protocol !== 'https:' || location.hostname !== url.hostname)
    return undefined
  const settings = names.map((name) => ADDRESSES[name].setting)
  const values = names.map((name) => location.origin + new URL(target[name]).pathname.replace(/\/+$/, ''))
  const cures = settings.map((setting, index) => `${setting}=${values[index]}`)
  const text = `${settings.join(', ')}: ${url.origin} redirects to ${location.origin}. Set ${cures.join(' and ')}`
  return failure('address.moved', text, { setting: settings[0] ?? '', value: values[0] ?? '' })
}

/** The token endpoint comes first: what it says about the client helps to understand the consent page. */
async function checkIdentityProvider(http: DoctorHttp, target: Target): Promise<AddressCheck> {
  const token: TokenEndpointCheck = await checkTokenEndpoint(http, target)
  if (token.isWrong) return token
  const consent: ConsentCheck = await checkConsentPage(http, target, token.isClientKnown)
  return {
    findings: [...consent.findings, ...token.findings.flatMap((finding) => refined(finding, token, consent))],
  }
}

/** `token.client` means the id or the secret; the consent page may have told which. */
function refined(finding: Finding, { refusal }: TokenEndpointCheck, consent: ConsentCheck): Finding[] {
  if (!refusal || finding.id !== 'token.client') return [finding]
  if (consent.findings.some(({ id }) => id === 'consent.client-id')) return []
  return consent.isClientKnown ? [wrongSecret(refusal, 'the consent page knows the client id')] : [finding]
}

/** Both redirect urls are registered in the same way: the advice stands with the first one. */
function shortenAdvice({ appUrl, authUrl }: Partial<Record<Address, AddressCheck>>): void {
  const isAdvised = appUrl?.findings.some(({ id }) => id === 'start-page.redirect-url')
  const second = authUrl?.findings.find(({ id }) => id === 'consent.redirect-uri')
  if (isAdvised && second) second.text = `${second.text.split('. Register it')[0]}. The same applies to it`
}

/** The findings of all addresses; those that were exchanged are one finding. */
async function* addressFindings(
  checks: Partial<Record<Address, AddressCheck>>,
  target: Target,
  http: DoctorHttp,
): AsyncGenerator<Finding> {
  const right = new Map<Address, string>()
  for (const name of NAMES) {
    const place = checks[name]?.isWrong && (await rightPlace(name, target, http))
    if (place) right.set(name, target[place])
  }
  const [first] = right.keys()
  if (first) {
    const settings = [...right.keys()].map((name) => ADDRESSES[name].setting)
    const cures = [...right].map(([name, value]) => `${ADDRESSES[name].setting}=${value}`)
    const what = right.size > 1 ? 'are exchanged' : 'is the address of something else'
    const text = `${settings.join(', ')}: ${right.size > 1 ? 'these addresses ' : 'this '}${what}. Set ${cures.join(' and ')}`
    yield failure('addresses.exchanged', text, {
      setting: ADDRESSES[first].setting,
      value: right.get(first) ?? '',
    })
  }
  for (const name of NAMES) {
    const check = checks[name]
    if (!check || right.has(name)) continue
    const value = check.isWrong && (await nearbyAddress(name, target, http))
    yield* value ? check.findings.map((finding) => withValue(finding, value)) : check.findings
  }
}

/** Paths below which authorization servers and APIs often are. */
const COMMON_PATHS = ['/auth', '/oauth2', '/api', '/v1', '/api/v1']

/** An address on the same host that is the right one: without the end of the path, or with a usual path. */
async function nearbyAddress(name: Address, target: Target, http: DoctorHttp): Promise<string | undefined> {
  const { origin, pathname } = new URL(target[name])
  const parts = pathname.split('/').filter(Boolean)
  const parents = parts.map((_, index) => `/${parts.slice(0, index).join('/')}`.replace(/\/$/, '')).reverse()
  for (const path of new Set([...parents, ...COMMON_PATHS]))
    if (path !== pathname && (await ADDRESSES[name].isAt(http, origin + path, target))) return origin + path
  return undefined
}

/** The finding with the likely value in place of the advice to check the address. */
function withValue(finding: Finding, value: string): Finding {
  const [what] = finding.text.split('. Check the address')
  return { ...finding, value, text: `${what}. Set ${finding.setting}=${value}` }
}

async function rightPlace(name: Address, target: Target, http: DoctorHttp): Promise<Address | undefined> {
  for (const other of NAMES)
    if (other !== name && (await ADDRESSES[name].isAt(http, target[other], target))) return other
  return undefined
}

function* checkSandboxSetting(target: Target): Generator<Finding> {
  const { sandboxUrl } = target
  if (!sandboxUrl || NAMES.some((name) => new URL(target[name]).origin === new URL(sandboxUrl).origin)) return
  const text =
    'SANDBOX_URL: pages link to the sandbox, but no address of the platform is there. Remove SANDBOX_URL'
  yield warning('sandbox-url', text, { setting: 'SANDBOX_URL' })
}

function* checkClock({ clockOffsets }: DoctorHttp): Generator<Finding> {
  const sorted = clockOffsets.toSorted((one, other) => one - other)
  const offset = sorted[Math.floor(sorted.length / 2)]
  if (offset === undefined) return
  const seconds = Math.round(Math.abs(offset) / 1000)
  if (Math.abs(offset) <= MAX_CLOCK_OFFSET_MS) {
    yield ok('clock', 'clock: agrees with the platform within 60 s')
    return
  }
  const text = `clock: this machine is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} the platform. Set its clock (NTP); tokens would be used too long or refreshed too often, and webhooks refused`
  yield warning('clock', text)
}
