import { platform, randomCodeVerifier, randomState, redirectUrls } from '../../../connect/index.ts'
import type { Config, ReceivedRequest, ToolOf } from '../../../web/kit.ts'
import type { Contract } from '../../contracts.ts'
import { createClient } from '../client.ts'
import { oauthOf, requestOf, type Target } from '../platform/target.ts'
import { createApiProbe } from './api-probe.ts'
import { type Comparisons, createComparisons } from './comparisons.ts'
import {
  checkInvalidToken,
  checkOldRefreshToken,
  checkRefresh,
  checkRevoked,
  checkSecondConsent,
  checkUsedCode,
} from './grants.ts'
import { ask, ignoreNoAnswer, type Round } from './round.ts'
import { errorCodeOf, refusalOf } from './shape.ts'
import { compareTokenResponse } from './token-response.ts'

export interface ConsentsOptions {
  config: Config
  contracts: readonly Contract[]
  /** The probes of the features, by their names. */
  probes: ReadonlyMap<string, ToolOf<'probe'>>
  /** Whether to create records, named as a test. */
  write: boolean
}

/** A flow that was started. */
interface Flow {
  bxcontext: string
  state: string
  codeVerifier: string
}

/** Asks for consents, and compares what the platform does with the assumptions. Tokens stay in memory. */
export class Consents {
  /** Requests that the platform sent to this app, such as webhooks. */
  readonly received: ReceivedRequest[] = []
  round: Round
  readonly #options: ConsentsOptions
  readonly #target: Target
  #isStarted = false
  #flow: Flow | undefined

  constructor(options: ConsentsOptions) {
    const { platform: settings, baseUrl } = options.config
    this.#options = options
    this.#target = { platform, ...settings, baseUrl, client: createClient(settings) }
    this.round = this.#newRound()
  }

  #newRound(): Round {
    const comparisons = createComparisons(this.#options.contracts)
    return { target: this.#target, comparisons, grants: [], isChecked: false, isAlive: false }
  }

  /** How many consents can be checked. */
  get count(): number {
    return this.round.isChecked ? 0 : this.round.grants.length
  }

  /** The platform's page where a consent starts. */
  startUrl(): URL {
    this.#isStarted = true
    return oauthOf(this.#target).startUrl(redirectUrls(this.#target.baseUrl)[0])
  }

  /** The consent page for the bxcontext that the platform returned; undefined if no consent was started. */
  consentUrl(bxcontext: string): URL | undefined {
    if (!this.#isStarted) return undefined
    this.#isStarted = false
    this.#flow = { bxcontext, state: randomState(), codeVerifier: randomCodeVerifier() }
    const [, redirectUri] = redirectUrls(this.#target.baseUrl)
    return oauthOf(this.#target).authorizationUrl({ ...this.#flow, redirectUri })
  }

  /** Exchanges the code. Resolves to what failed; undefined if the consent succeeded. */
  async callback(url: URL): Promise<string | undefined> {
    const flow = this.#flow
    if (!flow || url.searchParams.get('state') !== flow.state)
      return 'This callback belongs to no consent that was started here. Give consent again.'
    this.#flow = undefined
    if (this.round.isChecked) this.round = this.#newRound()
    return exchange(this.round, url, flow)
  }

  /**
   * Checks everything, once for each round of consents. When it is called again, it only checks whether the consent has ended. The
   * checks that may end the consent come last. Resolves to whether there was something to check.
   */
  async check(): Promise<boolean> {
    const { round, received } = this
    const { config, probes, write } = this.#options
    const [grant] = round.grants
    if (!grant || (round.isChecked && !round.isAlive)) return false
    if (!round.isChecked) {
      round.isChecked = true
      const how = 'Give consent to only one permission, and run the check again.'
      round.comparisons.notSeen('insufficient-scope', how)
      await checkRefresh(round, grant).catch(ignoreNoAnswer)
      const probe = createApiProbe(round, grant, { write, received })
      for (const [name, probeFeature] of probes)
        await probeFeature(probe, config.features[name]).catch(ignoreNoAnswer)
      await checkInvalidToken(round).catch(ignoreNoAnswer)
      await checkOldRefreshToken(round, grant).catch(ignoreNoAnswer)
      await checkUsedCode(round, grant).catch(ignoreNoAnswer)
    }
    await checkRevoked(round, grant).catch(ignoreNoAnswer)
    return true
  }

  close(): Promise<void> {
    return this.#target.client.close()
  }
}

/** Exchanges the code of a consent. Resolves to what failed. */
async function exchange(round: Round, callbackUrl: URL, flow: Flow): Promise<string | undefined> {
  const { target, comparisons, grants } = round
  const { bxcontext } = flow
  const [code, iss] = ['code', 'iss'].map((name) => callbackUrl.searchParams.get(name) ?? undefined)
  comparisons.hide(bxcontext, flow.state, flow.codeVerifier, code)
  compareBxcontext(comparisons, bxcontext)
  const error = errorCodeOf({ error: callbackUrl.searchParams.get('error') })
  if (error === 'access_denied') {
    comparisons.notSeen('token-request', 'Consent was denied. Give consent again.')
    return 'Consent was denied.'
  }
  if (error) {
    comparisons.differ('consent-url', `the consent page returned \`${error}\``, false)
    return `The consent page returned ${error}.`
  }
  compareIssuer(comparisons, callbackUrl, target.authUrl)
  if (!code) return 'The code was not exchanged: the callback has none.'
  const redirectUri = redirectUrls(target.baseUrl)[1]
  const request = await requestOf(target, (oauth) =>
    oauth.exchangeCode({ ...flow, code, iss, redirectUri }),
  ).catch((cause: Error) => cause)
  if (request instanceof Error) return `The code was not exchanged: ${request.message}.`
  const startedAt = performance.now()
  const answer = await ask(target.client, request).catch(ignoreNoAnswer)
  const ms = performance.now() - startedAt
  if (!answer) return 'The code was not exchanged: the token endpoint had no usable answer.'
  const { access_token: accessToken, refresh_token: refreshToken } = Object(answer.json)
  if (answer.status > 299 || typeof accessToken !== 'string') {
    const said = refusalOf(answer)
    comparisons.differ('token-request', `the code exchange: ${said}`, false)
    return `The code exchange failed: ${said}.`
  }
  const issued = typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined
  comparisons.hide(accessToken, issued)
  comparisons.confirm('consent-url', 'consent was given')
  comparisons.confirm('token-request', `the code was exchanged, with ${target.tokenEndpointAuthMethod}`)
  compareTokenResponse(comparisons, answer, ms, target.scopes)
  const tokens = { accessToken, issuedRefreshToken: issued, refreshToken: issued }
  grants.push({ bxcontext, ...tokens, exchange: request })
  await checkSecondConsent(round).catch(ignoreNoAnswer)
  return undefined
}

function compareBxcontext(comparisons: Comparisons, bxcontext: string): void {
  const length = `${bxcontext.length} characters`
  const isText = platform.bxcontextSchema.safeParse(bxcontext).success
  const seen = isText ? length : `${length}: too many, or not all of them text`
  comparisons.compare('bxcontext', isText, seen, false)
}

function compareIssuer(comparisons: Comparisons, callback: URL, authUrl: string): void {
  const issuer = callback.searchParams.get('iss')
  if (issuer === null) comparisons.confirm('issuer', 'the callback carries no `iss`')
  else if (issuer.replace(/\/$/, '') === authUrl) comparisons.confirm('issuer', '`PLATFORM_AUTH_URL`')
  else comparisons.differ('issuer', 'the callback carries another `iss`', false)
}
