import { mask, splitUrl } from '../../connect/masking.ts'
import { CODE_LIFETIME_MS, SANDBOX_CODE_LIFETIME_MS } from './contract.ts'
import { toParameter } from './fingerprints.ts'
import type { Parameter } from './flow.ts'
import { showParameter } from './pages.ts'
import type { Pause, Stage } from './step-by-step.ts'
import { STEP_TEXTS } from './step-texts.ts'

const HEADINGS: Record<Stage, string> = {
  start: "Next: the platform's start page",
  consent: 'Next: the consent page',
  exchange: 'Next: exchange the code for tokens',
  result: 'Next: back to your connections',
}
const TOPICS = {
  start: 'to_start_page',
  consent: 'to_consent_page',
  exchange: 'code_exchange',
  result: 'to_connections',
} as const

export interface PausePageOptions {
  /** The token endpoint and redirect URI, for the code exchange. */
  tokenUrl: string
  redirectUri: string
  clientId: string
  isSandbox: boolean
  key: string
}

/** What the page of a pause shows: the request that is made next. */
export function pausePage(pause: Pause, baseUrl: string, options: PausePageOptions) {
  const { stage, at, isContinued, id } = pause
  const target = new URL(pause.target.split('#')[0] ?? '/', baseUrl)
  const { address, query } = splitUrl(target)
  const arrived = mask({ query }).query.map((parameter) => toParameter(parameter, options.key))
  const error = arrived.find(({ name }) => name === 'error')?.value
  const failed = target.pathname === '/connect/failed'
  const isExchange = stage === 'exchange' && error === undefined
  const request = isExchange
    ? { method: 'POST', url: options.tokenUrl, parameters: exchangeParameters(arrived, options) }
    : { method: 'GET', url: address, parameters: arrived }
  const lifetime = options.isSandbox ? SANDBOX_CODE_LIFETIME_MS : CODE_LIFETIME_MS
  return {
    id,
    stage,
    isContinued,
    title: titleOf(stage, error, failed),
    text: failed || error !== undefined ? STEP_TEXTS.flow_failed : STEP_TEXTS[TOPICS[stage]],
    step: {
      request: { ...request, headers: {} },
      sent: request.parameters.map(showParameter),
      received: [],
    },
    codeExpiresAt: isExchange ? new Date(at + lifetime).toISOString() : null,
  }
}

function titleOf(stage: Stage, error: string | undefined, failed: boolean): string {
  if (stage === 'exchange' && error !== undefined) return 'The platform answered with an error'
  return stage === 'result' && failed ? 'Next: the page that shows why it failed' : HEADINGS[stage]
}

/** The body of the token request. The verifier and the client secret are known to the core only. */
function exchangeParameters(arrived: readonly Parameter[], options: PausePageOptions): Parameter[] {
  const hidden = 'a secret of this app, sent to the platform only'
  return [
    { name: 'grant_type', value: 'authorization_code' },
    ...arrived.filter(({ name }) => name === 'code'),
    { name: 'redirect_uri', value: options.redirectUri },
    { name: 'code_verifier', value: hidden },
    { name: 'client_id', value: options.clientId },
    { name: 'client_secret', value: hidden },
  ]
}
