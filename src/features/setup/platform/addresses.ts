import { sentTo } from '../../../connect/index.ts'
import type { Finding } from '../../../web/feature-api.ts'
import { isResponse } from '../answers.ts'
import { noAnswer, ok, warning } from '../findings.ts'
import { checkApi } from './api.ts'
import { CONSENT_PAGE, checkPage, START_PAGE } from './pages.ts'
import { checkRevocation } from './revocation.ts'
import { discover, type Metadata, type Target } from './target.ts'
import { checkTokenEndpoint, wrongSecret } from './token-endpoint.ts'

/** The three addresses, and the setting of each. */
const ADDRESSES = [
  ['appUrl', 'PLATFORM_APP_URL'],
  ['authUrl', 'PLATFORM_AUTH_URL'],
  ['apiUrl', 'PLATFORM_API_URL'],
] as const

/** Checks the platform's addresses, our registration there, and the clock. */
export async function* checkPlatform(target: Target): AsyncGenerator<Finding> {
  const { sandboxUrl } = target
  const origins = Map.groupBy(ADDRESSES, ([name]) => new URL(target[name]).origin)
  if (sandboxUrl && !origins.has(new URL(sandboxUrl).origin)) {
    const text = 'pages link to the sandbox, but the platform is not the sandbox. Remove SANDBOX_URL'
    yield warning('sandbox-url', 'SANDBOX_URL', text)
  }
  const reachable = new Set<string>()
  // Reports an unreachable host only once, even if several addresses are on it.
  for (const addresses of origins.values()) {
    const [[name] = ADDRESSES[0]] = addresses
    const settings = addresses.map(([, setting]) => setting)
    const finding = await unreachable(target, target[name], settings)
    if (finding) yield finding
    else for (const [one] of addresses) reachable.add(one)
  }
  if (reachable.has('appUrl')) yield* (await checkPage(START_PAGE, target)).findings
  const metadata = reachable.has('authUrl') ? await discover(target) : undefined
  if (reachable.has('authUrl')) yield* await checkAuthorizationServer(target, metadata)
  if (reachable.has('apiUrl')) yield await checkApi(target)
  const revocation = await checkRevocation(target, metadata)
  if (revocation) yield revocation
  yield* checkClock(target.client.clockOffsets)
}

/** The finding for an address that does not answer. */
async function unreachable(
  { client, internalUrls }: Target,
  url: string,
  settings: string[],
): Promise<Finding | undefined> {
  const answer = await client.get(url)
  if (isResponse(answer)) return undefined
  const { href, origin } = sentTo(url, internalUrls)
  const isPublic = origin === new URL(url).origin
  return isPublic
    ? noAnswer(settings.join(', '), url, answer.error)
    : noAnswer(['PLATFORM_INTERNAL_URLS', ...settings].join(', '), href, answer.error)
}

/**
 * Checks the token endpoint first, because its answer helps to explain why the consent page refuses us. The consent page, in turn,
 * helps to tell a wrong client id from a wrong secret.
 */
async function checkAuthorizationServer(target: Target, metadata: Metadata | undefined): Promise<Finding[]> {
  const token = await checkTokenEndpoint(target, metadata)
  if (token.id === 'token.not-found') return [token]
  const isRefused = token.id === 'token.client'
  const listed = metadata?.isOfIssuer ? metadata.authorizationEndpoint : undefined
  const { findings, proven } = await checkPage(CONSENT_PAGE, target, { listed, isClientRefused: isRefused })
  // Without PKCE, an attacker who sees the code may use it (RFC 9700 section 2.1.1).
  const text = 'the code is not protected by PKCE. Set PLATFORM_PKCE=true, if the platform accepts it'
  if (!target.pkce) findings.push(warning('pkce.off', 'PLATFORM_PKCE', text))
  if (!isRefused) return [...findings, token]
  if (findings.some(({ id }) => id === 'consent.client-id')) return findings
  return [...findings, proven.includes('PLATFORM_CLIENT_ID') ? wrongSecret(target) : token]
}

const MAX_CLOCK_OFFSET_MS = 60_000

function* checkClock(clockOffsets: readonly number[]): Generator<Finding> {
  // A slow answer makes this machine's clock seem ahead.
  const [offset] = clockOffsets.toSorted((one, other) => Math.abs(one) - Math.abs(other))
  if (offset === undefined) return
  if (Math.abs(offset) <= MAX_CLOCK_OFFSET_MS) {
    yield ok('clock', 'clock: agrees with the platform within 60 s')
    return
  }
  const seconds = Math.round(Math.abs(offset) / 1000)
  const text = `clock: this machine is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} the platform. Set its clock (NTP). Otherwise, the app uses tokens too long or refreshes them too often, and may refuse webhooks`
  yield { id: 'clock', status: 'warning', text }
}
