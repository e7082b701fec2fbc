import type { Config } from '../config.ts'
import { redirectUrls } from '../connect/authorization/routes.ts'
import { bxcontextSchema } from '../connect/platform/contract.ts'
import { createHttpPools, type HttpPools, type HttpRequest } from '../connect/platform/http.ts'
import { createOAuth, type OAuth, randomCodeVerifier, randomState } from '../connect/platform/oauth.ts'
import type { Contract } from '../contracts.ts'
import type { Delivery, Feature, Probe, ProbeAnswer } from '../features/feature.ts'
import {
  apiRequest,
  checkFields,
  checkInvalidToken,
  checkLimitHeaders,
  checkMissingScope,
  checkRecords,
  recordsOf,
} from './api-checks.ts'
import { createRecorder, type Exchange, type Recorder, sent } from './http.ts'
import { createRecording, type Recording } from './recording.ts'
import { createResults, type Result, type Results } from './results.ts'
import { errorCodeOf } from './shape.ts'
import { checkRefusal, checkRotation, checkTokenResponse } from './token-checks.ts'

export interface ProbeOptions {
  config: Config
  features: readonly Feature[]
  contracts: readonly Contract[]
  /** Whether to create records, named as a test. */
  write: boolean
}

/** A probe in progress. It keeps tokens in memory only. */
export interface ProbeRun {
  /** The platform's page where a consent starts. */
  startUrl(): URL
  /** The consent page for the bxcontext that the platform returned. */
  consentUrl(bxcontext: string): Promise<URL>
  /** Exchanges the code. Resolves to what failed; undefined if the consent succeeded. */
  callback(url: URL): Promise<string | undefined>
  /** How many consents have succeeded. */
  readonly consents: number
  /** Requests that the platform sent to this app, such as webhooks. */
  readonly deliveries: Delivery[]
  /** Calls the API and checks everything that ends the grant last. */
  check(): Promise<void>
  /** Checks again whether the grant was revoked. Resolves to whether it was. */
  checkRevoked(): Promise<boolean>
  results(): Result[]
  recording(): Recording
  close(): Promise<void>
}

interface Grant {
  bxcontext: string
  accessToken: string
  /** The refresh token of the exchange; undefined if the platform issued none. */
  first: string | undefined
  /** The one to use now. */
  refreshToken: string | undefined
  exchange: HttpRequest
}

interface Pending {
  bxcontext: string
  state: string
  codeVerifier: string
}

/** How the probe names what it creates. */
const MADE_UP_TOKEN = 'probe-made-up-token'

export function createProbe({ config, features, contracts, write }: ProbeOptions): ProbeRun {
  const { platform, baseUrl } = config
  const pools = createHttpPools({ proxies: platform.proxies })
  const recorder = createRecorder(pools.tokens)
  const oauth = createOAuth({ ...platform, http: recorder })
  const [contextUrl, callbackUrl] = redirectUrls(baseUrl)
  const results = createResults(contracts)
  const recording = createRecording()
  const grants: Grant[] = []
  const deliveries: Delivery[] = []
  let pending: Pending | undefined

  async function consentUrl(bxcontext: string): Promise<URL> {
    const isText = bxcontextSchema.safeParse(bxcontext).success
    if (isText) results.confirm('bxcontext', `${bxcontext.length} characters`)
    else results.differ('bxcontext', `${bxcontext.length} characters, not all of them text`, false)
    pending = { bxcontext, state: randomState(), codeVerifier: randomCodeVerifier() }
    return oauth.authorizationUrl({ ...pending, redirectUri: callbackUrl })
  }

  async function callback(url: URL): Promise<string | undefined> {
    if (!pending) return 'No consent is in progress. Start again.'
    const flow = pending
    pending = undefined
    const error = errorCodeOf({ error: url.searchParams.get('error') })
    if (error) {
      results.differ('consent-url', `the consent page returned \`${error}\``, false)
      return `The consent page returned ${error}.`
    }
    checkIssuer(results, url, platform.authUrl)
    const failure = await oauth.exchangeCode({ ...flow, callbackUrl: url }).then(
      () => undefined,
      (cause: Error & { reason?: string }) => cause.reason ?? cause.message,
    )
    const exchange = recorder.take()
    const grant = exchange && grantOf(exchange, flow.bxcontext)
    if (!exchange || !grant) {
      const seen = exchange
        ? `${exchange.answer.status} \`${errorCodeOf(exchange.answer.json) ?? 'no error code'}\``
        : 'no answer'
      results.differ('token-request', `the code exchange: ${seen}`, false)
      return `The code exchange failed: ${failure ?? seen}.`
    }
    results.confirm('consent-url', 'consent was given')
    results.confirm('token-request', 'the code was exchanged')
    checkTokenResponse(results, exchange, platform.scopes)
    recording.token(exchange.answer)
    grants.push(grant)
    await checkSecondConsent(results, oauth, grants)
    return undefined
  }

  async function check(): Promise<void> {
    const [grant] = grants
    if (!grant) return
    await checkRefresh(results, recording, { oauth, recorder }, grant)
    const paths = await checkApi({ results, recording, pools, config, features, write, deliveries }, grant)
    await checkNarrowScope({ results, recording, recorder, pools, config, paths }, grant)
    await checkOldRefreshToken(results, recording, oauth, grant)
    // Last: a code that is used again may end the grant (RFC 6749 section 4.1.2).
    const again = await sent(pools.tokens, grant.exchange)
    if (!again) results.notSeen('used-code', 'The token endpoint did not answer. Run the probe again.')
    else checkRefusal(results, 'used-code', again)
    recording.refusal('usedCode', again)
    await checkRevoked()
  }

  async function checkRevoked(): Promise<boolean> {
    const [grant] = grants
    if (!grant?.refreshToken) return false
    await oauth.refresh({ refreshToken: grant.refreshToken, bxcontext: grant.bxcontext }).catch(() => {})
    const exchange = recorder.take()
    const isRefused = exchange !== undefined && exchange.answer.status >= 400 && exchange.answer.status < 500
    if (!isRefused) {
      const how = 'Withdraw the access of this app on the platform before you press “Check again”.'
      results.notSeen('revoked-refresh-token', how)
      return false
    }
    checkRefusal(results, 'revoked-refresh-token', exchange.answer)
    recording.refusal('revokedRefreshToken', exchange.answer)
    return true
  }

  return {
    startUrl: () => oauth.startUrl(contextUrl),
    consentUrl,
    callback,
    get consents() {
      return grants.length
    },
    deliveries,
    check,
    checkRevoked,
    results: () => results.list(),
    recording: () => recording.result(),
    close: () => pools.close(),
  }
}

function grantOf({ request, answer }: Exchange, bxcontext: string): Grant | undefined {
  const { access_token: accessToken, refresh_token: refreshToken } = Object(answer.json)
  if (answer.status < 200 || answer.status > 299 || typeof accessToken !== 'string') return undefined
  const first = typeof refreshToken === 'string' ? refreshToken : undefined
  return { bxcontext, accessToken, first, refreshToken: first, exchange: request }
}

function checkIssuer(results: Results, callback: URL, authUrl: string): void {
  const issuer = callback.searchParams.get('iss')
  if (issuer === null) results.confirm('issuer', 'the callback carries no `iss`')
  else if (issuer.replace(/\/$/, '') === authUrl.replace(/\/$/, ''))
    results.confirm('issuer', '`PLATFORM_AUTH_URL`')
  else results.differ('issuer', 'the callback carries another `iss`', false)
}

/** Whether the first grant can still be refreshed after the second consent. */
async function checkSecondConsent(results: Results, oauth: OAuth, grants: readonly Grant[]): Promise<void> {
  const [first, ...others] = grants
  const second = others.at(-1)
  if (!first?.refreshToken || !second) {
    results.notSeen('second-consent', 'Give consent a second time, for the same business.')
    return
  }
  if (first.bxcontext !== second.bxcontext) {
    results.notSeen('second-consent', 'The second consent was for another business.')
    return
  }
  const { refreshToken, bxcontext } = first
  const tokens = await oauth.refresh({ refreshToken, bxcontext }).catch(() => undefined)
  if (!tokens) return results.differ('second-consent', 'the first grant can no longer be refreshed', false)
  first.refreshToken = tokens.refreshToken ?? refreshToken
  first.accessToken = tokens.accessToken
  results.confirm('second-consent', 'the first grant can still be refreshed')
}

async function checkRefresh(
  results: Results,
  recording: ReturnType<typeof createRecording>,
  { oauth, recorder }: { oauth: OAuth; recorder: Recorder },
  grant: Grant,
): Promise<void> {
  const { refreshToken, bxcontext } = grant
  if (!refreshToken) {
    for (const id of ['refresh-rotation', 'old-refresh-token', 'revoked-refresh-token'])
      results.notSeen(id, 'The platform issued no refresh token.')
    return
  }
  await oauth.refresh({ refreshToken, bxcontext }).catch(() => undefined)
  const exchange = recorder.take()
  const { access_token: accessToken } = Object(exchange?.answer.json)
  if (!exchange || typeof accessToken !== 'string') {
    const seen = exchange
      ? `${exchange.answer.status} \`${errorCodeOf(exchange.answer.json) ?? 'no error code'}\``
      : 'no answer'
    results.differ('token-request', `the refresh: ${seen}`, false)
    return
  }
  grant.accessToken = accessToken
  grant.refreshToken = checkRotation(results, exchange.answer, refreshToken)
  recording.refresh(exchange.answer, refreshToken)
}

/** A refresh with the token before the last one. A platform that rotates may end the grant because of it. */
async function checkOldRefreshToken(
  results: Results,
  recording: ReturnType<typeof createRecording>,
  oauth: OAuth,
  grant: Grant,
): Promise<void> {
  const { first, bxcontext } = grant
  if (!first) return
  const tokens = await oauth.refresh({ refreshToken: first, bxcontext }).catch(() => undefined)
  recording.oldRefreshToken(tokens !== undefined)
  if (!tokens)
    return results.differ('old-refresh-token', 'it is refused after a refresh', first !== grant.refreshToken)
  results.confirm('old-refresh-token', 'it is accepted again')
  grant.refreshToken = tokens.refreshToken ?? grant.refreshToken
  grant.accessToken = tokens.accessToken
}

interface ApiContext {
  results: Results
  recording: ReturnType<typeof createRecording>
  pools: HttpPools
  config: Config
  features: readonly Feature[]
  write: boolean
  deliveries: Delivery[]
}

/** Runs the features' probes. Resolves to a path for each scope that they read. */
async function checkApi(context: ApiContext, grant: Grant): Promise<Map<string, string>> {
  const { results, recording, pools, config, features, write, deliveries } = context
  const { apiUrl } = config.platform
  const paths = new Map<string, string>()
  const call = async (path: string, body?: object): Promise<ProbeAnswer | null> => {
    const answer = await sent(pools.api, apiRequest(apiUrl, path, grant.accessToken, body))
    if (!answer) return null
    checkLimitHeaders(results, answer)
    recording.call(path, answer)
    if (answer.status >= 200 && answer.status < 300) results.confirm('api-address', 'calls succeed')
    if (answer.status === 401) results.differ('api-address', '401 to a call with a fresh token', false)
    return answer
  }
  const probe: Probe = {
    http: pools.tokens,
    apiUrl,
    write,
    deliveries,
    call,
    checkRecords: async (check) => {
      paths.set(check.scope, check.path)
      return checkRecords(results, probe, check)
    },
    recordsOf: (answer, path) => recordsOf(results, answer, path),
    checkFields: (id, schema, records) => checkFields(results, id, schema, records),
    confirm: results.confirm,
    differ: results.differ,
    notSeen: results.notSeen,
  }
  for (const feature of features) await feature.probe?.(probe, config.features[feature.name])
  const [path] = paths.values()
  if (path === undefined) return paths
  const answer = await sent(pools.api, apiRequest(apiUrl, path, MADE_UP_TOKEN))
  if (answer) checkInvalidToken(results, answer)
  else results.notSeen('invalid-access-token', 'The API did not answer. Run the probe again.')
  recording.challenge('invalidToken', answer)
  return paths
}

interface ScopeContext extends Pick<ApiContext, 'results' | 'recording' | 'pools' | 'config'> {
  recorder: Recorder
  paths: Map<string, string>
}

/** Refreshes with fewer scopes (RFC 6749 section 6), to see what a call without its scope answers. */
async function checkNarrowScope(context: ScopeContext, grant: Grant): Promise<void> {
  const { results, recording, pools, config, paths } = context
  const how = 'Give consent to only one permission, and run the probe again.'
  const [kept, left] = [...paths.keys()].filter((scope) => config.platform.scopes.includes(scope))
  if (!grant.refreshToken || !kept || !left) return results.notSeen('insufficient-scope', how)
  const request = await refreshRequest(context, grant)
  const form = new URLSearchParams(String(request?.body))
  form.set('scope', kept)
  const narrowed = request && (await sent(pools.tokens, { ...request, body: form.toString() }))
  const { access_token: token, refresh_token: next } = Object(narrowed?.json)
  if (typeof next === 'string') grant.refreshToken = next
  if (typeof token !== 'string') return results.notSeen('insufficient-scope', how)
  const answer = await sent(pools.api, apiRequest(config.platform.apiUrl, paths.get(left) ?? '', token))
  if (!answer || (answer.status >= 200 && answer.status < 300))
    return results.notSeen('insufficient-scope', `The platform ignores fewer scopes at a refresh. ${how}`)
  checkMissingScope(results, answer, left)
  recording.challenge('missingScope', answer)
}

/** The request of a refresh, as the app builds it, and not sent. */
async function refreshRequest({ config }: ScopeContext, { refreshToken = '', bxcontext }: Grant) {
  let request: HttpRequest | undefined
  const http = {
    send: async (built: HttpRequest) => {
      request = built
      throw new Error('recorded instead of sent')
    },
    close: async () => {},
  }
  await createOAuth({ ...config.platform, http })
    .refresh({ refreshToken, bxcontext })
    .catch(() => {})
  return request
}
