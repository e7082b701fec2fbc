import { type Platform, redirectUrls } from '../../../connect/index.ts'
import { CODE_LIFETIME_MS, SANDBOX_CODE_LIFETIME_MS } from '../contract.ts'
import { toParameter } from '../fingerprints.ts'
import type { Flow, Parameter } from '../flow.ts'
import { mask, splitUrl } from '../masking.ts'
import { byInterest, showParameter } from '../pages.ts'
import { STEP_TEXTS } from '../step-texts.ts'
import type { Pause, Stage } from './pauses.ts'

/** What the page of a pause knows of the platform. */
export interface PausePlatform {
  platform: Platform
  tokenUrl: string
  /** The address of this app. */
  baseUrl: string
  clientId: string
  pkce: boolean
  isSandbox: boolean
}

const HEADINGS: Record<Stage, string> = {
  start: "Next: the platform's start page",
  consent: 'Next: the consent page',
  exchange: 'Next: exchange the code for tokens',
  result: 'Next: back to your connections',
}
const TEXTS: Record<Stage | 'failed', { about: string; reference: string }> = {
  start: STEP_TEXTS.to_start_page,
  consent: STEP_TEXTS.to_consent_page,
  exchange: STEP_TEXTS.code_exchange,
  result: STEP_TEXTS.record_written,
  failed: STEP_TEXTS.flow_failed,
}
const NO_CODE = {
  about: 'There is no code to exchange. Next, the app shows why, and offers to connect again.',
  reference: 'RFC 6749 section 4.1.2.1',
}

/** The address that the browser opens next, with its parameters masked. */
export function nextRequest(platform: Platform, pause: Pause, baseUrl: string, key: string) {
  const url = new URL(pause.target, baseUrl)
  const { address, query } = splitUrl(url)
  return {
    address,
    parameters: mask(platform, { query }).query.map((parameter) => toParameter(parameter, key)),
  }
}

/** What the page of a pause shows: the request that is made next. `flow`: the flow so far, if it is known. */
export function pausePage(
  pause: Pause,
  { address, parameters }: ReturnType<typeof nextRequest>,
  platform: PausePlatform,
  flow: Flow | null,
) {
  const { stage, at, isContinued, id } = pause
  const error = parameters.find(({ name }) => name === 'error')?.value
  const hasCode = error === undefined && parameters.some(({ name }) => name === 'code')
  const isFailed = stage === 'exchange' ? !hasCode : address.endsWith('/connect/failed')
  const isExchange = stage === 'exchange' && hasCode
  const request = isExchange
    ? { method: 'POST', url: platform.tokenUrl, parameters: exchangeParameters(parameters, platform, flow) }
    : { method: 'GET', url: address, parameters }
  const lifetime = platform.isSandbox ? SANDBOX_CODE_LIFETIME_MS : CODE_LIFETIME_MS
  return {
    id,
    stage,
    isContinued,
    isFailed,
    title: titleOf(stage, error, isFailed),
    text: stage === 'exchange' && isFailed ? NO_CODE : TEXTS[isFailed ? 'failed' : stage],
    step: {
      request: { ...request, headers: {} },
      sent: byInterest(request.parameters.map(showParameter)),
      received: [],
    },
    codeExpiresAt: isExchange ? new Date(at + lifetime).toISOString() : null,
  }
}

function titleOf(stage: Stage, error: string | undefined, isFailed: boolean): string {
  if (!isFailed) return HEADINGS[stage]
  if (stage === 'result') return 'Next: the page that shows why it failed'
  if (error === undefined) return 'The platform sent no code'
  return error === 'access_denied'
    ? 'The user denied access'
    : `The platform answered with an error: ${error}`
}

/** The body of the token request. Only the core knows the verifier and the client secret, so they have no value. */
function exchangeParameters(
  arrived: readonly Parameter[],
  { platform, clientId, pkce, baseUrl }: PausePlatform,
  flow: Flow | null,
): Parameter[] {
  return [
    ...(flow?.bxcontext ? [{ name: platform.bxcontextParameter, value: flow.bxcontext }] : []),
    { name: 'redirect_uri', value: redirectUrls(baseUrl)[1] },
    ...arrived.filter(({ name }) => name === 'code'),
    ...(pkce ? [{ name: 'code_verifier' }] : []),
    { name: 'grant_type', value: 'authorization_code' },
    { name: 'client_id', value: clientId },
    { name: 'client_secret' },
  ]
}
