import type { Config } from '../../../config.ts'
import {
  createOAuth,
  platform,
  randomCodeVerifier,
  randomState,
  redirectUrls,
} from '../../../connect/index.ts'
import type { Contract, ProbeTool, ReceivedRequest } from '../../tools.ts'
import { asHttp, createDoctorHttp } from '../doctor/http.ts'
import { type FeatureProbesOptions, runFeatureProbes } from './feature-probes.ts'
import {
  checkNarrowScope,
  checkOldRefreshToken,
  checkRefresh,
  checkRevoked,
  checkSecondConsent,
  checkUsedCode,
} from './grant-checks.ts'
import { createRecorder } from './http.ts'
import { createRecording, type Recording } from './recording.ts'
import { createResults, type Result, type Results } from './results.ts'
import { type Grant, grantOf, type Round } from './round.ts'
import { errorCodeOf } from './shape.ts'
import { checkTokenResponse } from './token-checks.ts'

export interface ProbeOptions {
  config: Config
  contracts: readonly Contract[]
  /** The probes of the features, by their names. */
  probes: ReadonlyMap<string, ProbeTool>
  /** Whether to create records, named as a test. */
  write: boolean
}

/** A probe in progress. It keeps tokens in memory only. */
export interface ProbeRun {
  /** The platform's page where a consent starts. */
  startUrl(): URL
  /** The consent page for the bxcontext that the platform returned; undefined if no consent was started. */
  consentUrl(bxcontext: string): Promise<URL | undefined>
  /** Exchanges the code. Resolves to what failed; undefined if the consent succeeded. */
  callback(url: URL): Promise<string | undefined>
  /** How many consents can be checked. */
  readonly consents: number
  /** Requests that the platform sent to this app, such as webhooks. */
  readonly received: ReceivedRequest[]
  /** Checks everything, once for each round of consents. What may end the consent comes last. */
  check(): Promise<void>
  /** Checks again whether the consent has ended. */
  checkRevoked(): Promise<void>
  /** Whether the consent of the latest check still works. */
  readonly isConsentAlive: boolean
  results(): Result[]
  recording(): Recording
  close(): Promise<void>
}

interface Pending {
  bxcontext: string
  state: string
  codeVerifier: string
}

const emptyResults = (contracts: readonly Contract[]) => ({
  results: createResults(contracts),
  recording: createRecording(),
})

export function createProbe({ config, contracts, probes, write }: ProbeOptions): ProbeRun {
  const { platform: client, baseUrl } = config
  const http = createDoctorHttp(client.proxies, platform.tokenEndpointMs)
  const recorder = createRecorder(asHttp(http, platform.tokenEndpointMs))
  const oauth = createOAuth({ ...client, platform, http: recorder })
  const [contextUrl, callbackUrl] = redirectUrls(baseUrl)
  const common = { config, http, recorder, oauth }
  const newRound = (): Round => ({ ...common, ...emptyResults(contracts), grants: [] })
  const received: ReceivedRequest[] = []
  let round = newRound()
  let isChecked = false
  let isConsentAlive = false
  let isStarted = false
  let pending: Pending | undefined

  return {
    received,
    startUrl() {
      isStarted = true
      return oauth.startUrl(contextUrl)
    },
    async consentUrl(bxcontext) {
      if (!isStarted) return undefined
      isStarted = false
      pending = { bxcontext, state: randomState(), codeVerifier: randomCodeVerifier() }
      return oauth.authorizationUrl({ ...pending, redirectUri: callbackUrl })
    },
    async callback(url) {
      if (!pending || url.searchParams.get('state') !== pending.state)
        return 'This callback belongs to no consent that was started here. Give consent again.'
      const flow = pending
      pending = undefined
      if (isChecked) round = newRound()
      isChecked = false
      return exchange(round, url, flow)
    },
    get consents() {
      return isChecked ? 0 : round.grants.length
    },
    get isConsentAlive() {
      return isConsentAlive
    },
    async check() {
      const [grant] = round.grants
      if (!grant || isChecked) return
      isChecked = true
      isConsentAlive = await checkAll(round, grant, { probes, write, received })
    },
    async checkRevoked() {
      const [grant] = round.grants
      if (grant && isConsentAlive) isConsentAlive = !(await checkRevoked(round, grant))
    },
    results: () => round.results.list(),
    recording: () => round.recording.result(),
    close: () => http.close(),
  }
}

/** Runs all checks; those that may end the consent come last. Resolves to whether it is still alive. */
async function checkAll(round: Round, grant: Grant, options: FeatureProbesOptions): Promise<boolean> {
  await checkRefresh(round, grant)
  const paths = await runFeatureProbes(round, grant, options)
  await checkNarrowScope(round, grant, paths)
  await checkOldRefreshToken(round, grant)
  await checkUsedCode(round, grant)
  return !(await checkRevoked(round, grant))
}

/** Exchanges the code of a consent. Resolves to what failed. */
async function exchange(round: Round, url: URL, flow: Pending): Promise<string | undefined> {
  const { config, results, recorder, recording, oauth, grants } = round
  const { bxcontext } = flow
  results.hide([bxcontext, flow.state, flow.codeVerifier, url.searchParams.get('code')])
  checkBxcontext(results, bxcontext)
  const error = errorCodeOf({ error: url.searchParams.get('error') })
  if (error === 'access_denied') {
    results.notSeen('token-request', 'Consent was denied. Give consent again.')
    return 'Consent was denied.'
  }
  if (error) {
    results.differ('consent-url', `the consent page returned \`${error}\``, false)
    return `The consent page returned ${error}.`
  }
  checkIssuer(results, url, config.platform.authUrl)
  recorder.take()
  const failure = await oauth.exchangeCode({ ...flow, callbackUrl: url }).then(
    () => 'no token',
    (cause: Error & { reason?: string }) => cause.reason ?? cause.message,
  )
  const exchanged = recorder.take()
  if (!exchanged) return `The code was not exchanged: ${failure}.`
  const grant = grantOf(exchanged, bxcontext)
  if (!grant) {
    const { status, json } = exchanged.answer
    results.differ(
      'token-request',
      `the code exchange: ${status} \`${errorCodeOf(json) ?? 'no error code'}\``,
      false,
    )
    return `The code exchange failed: ${failure}.`
  }
  results.hide([grant.accessToken, grant.refreshToken])
  confirmRequests(results, config)
  checkTokenResponse(results, exchanged, config.platform.scopes)
  recording.token(exchanged.answer)
  grants.push(grant)
  await checkSecondConsent(round)
  return undefined
}

/** The consent url and the token request are as assumed, apart from what settings change. */
function confirmRequests(results: Results, config: Config): void {
  const { authorizePath, authorizeParams, pkce, tokenEndpointAuthMethod } = config.platform
  const settings = [
    authorizePath !== platform.authorizePath && '`PLATFORM_AUTHORIZE_PATH`',
    authorizeParams.size > 0 && '`PLATFORM_AUTHORIZE_PARAMS`',
    !pkce && '`PLATFORM_PKCE`',
  ].filter((name) => name !== false)
  results.confirm(
    'consent-url',
    `consent was given${settings.length > 0 ? `, with ${settings.join(', ')}` : ''}`,
  )
  results.confirm('token-request', `the code was exchanged, with ${tokenEndpointAuthMethod}`)
}

function checkBxcontext(results: Results, bxcontext: string): void {
  const length = `${bxcontext.length} characters`
  if (platform.bxcontextSchema.safeParse(bxcontext).success) results.confirm('bxcontext', length)
  else results.differ('bxcontext', `${length}: too many, or not all of them text`, false)
}

function checkIssuer(results: Results, callback: URL, authUrl: string): void {
  const issuer = callback.searchParams.get('iss')
  if (issuer === null) results.confirm('issuer', 'the callback carries no `iss`')
  else if (issuer.replace(/\/$/, '') === authUrl.replace(/\/$/, ''))
    results.confirm('issuer', '`PLATFORM_AUTH_URL`')
  else results.differ('issuer', 'the callback carries another `iss`', false)
}
