/** What the templates of flows need. */

import { curlOf } from './curl.ts'
import { colourOf, drawDiagram } from './diagram.ts'
import { type Flow, type KINDS, LANE_NAMES, LANES, type Parameter, type Summary, summarize } from './flow.ts'
import { type NumberedStep, numberedSteps } from './flow-reader.ts'
import { type Explanation, explain } from './parameter-texts.ts'
import { textOf } from './step-texts.ts'

/** The styles and scripts of all pages of this feature. */
export const ASSETS = {
  styles: ['/assets/flow-inspector/flows.css'],
  scripts: ['/assets/flow-inspector/flows.js'],
}

const KIND_TITLES: Record<(typeof KINDS)[number], string> = {
  connect: 'Connect an account',
  refresh: 'Refresh a token',
  api_call: 'API call',
  revocation: 'Revocation detected',
  disconnect: 'Disconnect',
}

const GOOD = new Set(['connected', 'refreshed', 'answered', 'disconnected'])

/** Outcomes whose code says too little or too much. */
const OUTCOMES = new Map([
  ['running', 'in progress'],
  ['abandoned', 'not finished'],
  ['consent_denied', 'denied'],
  ['missing_authorization_request', 'refused: not started here'],
  ['invalid_state', 'refused: wrong state'],
])

const durationOf = (ms: number) => (ms < 100 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`)

/** Names in the order in which they are worth presenting; others come last. */
const PRESENTED = [
  'code code_verifier refresh_token access_token authorization client_secret',
  'state code_challenge client_id scope bxcontext error',
].flatMap((names) => names.split(' '))
const NOT_PRESENTED = new Set(
  'content-type accept code_challenge_method response_type token_type x-request-id'.split(' '),
)

/** Parameters in the order in which they are worth a look. */
export function byInterest<T extends { name: string }>(parameters: readonly T[]): T[] {
  const rank = ({ name }: T) => (PRESENTED.includes(name) ? PRESENTED.indexOf(name) : PRESENTED.length)
  return parameters.toSorted((a, b) => rank(a) - rank(b))
}

/** The parameters that are shown to an audience, the most interesting first. */
const presented = (parameters: readonly ShownParameter[]) =>
  byInterest(parameters.filter(({ name }) => !NOT_PRESENTED.has(name)))

/** A summary for the list: its title, and how the outcome is shown. */
export function flowRow(summary: Summary) {
  const { kind, outcome, startedAt, endedAt } = summary
  const isOpen = outcome === 'running' || outcome === 'abandoned'
  return {
    ...summary,
    title: KIND_TITLES[kind],
    tone: GOOD.has(outcome) ? 'connected' : isOpen ? 'degraded' : 'revoked',
    seconds: endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000,
    duration: endedAt === null ? 'in progress' : durationOf(Date.parse(endedAt) - Date.parse(startedAt)),
    label: OUTCOMES.get(outcome) ?? outcome.replaceAll('_', ' '),
  }
}

/** A parameter with its explanation and the colour of its fingerprint. */
export interface ShownParameter extends Parameter {
  explanation: Explanation
  colour: string | null
}

/** A parameter as templates show it. */
export function showParameter(parameter: Parameter): ShownParameter {
  const { name, fingerprint } = parameter
  return { ...parameter, explanation: explain(name), colour: fingerprint ? colourOf(fingerprint) : null }
}

/** A header is shown like a parameter; `authorization` holds a fingerprint behind `Bearer`. */
function showHeader([name, value]: [string, string]): ShownParameter & { name: string } {
  const bearer = name === 'authorization' ? /[^ ]+$/.exec(value)?.[0] : undefined
  const shown = bearer ? { name, fingerprint: bearer } : { name, value }
  return showParameter(shown)
}

/** A step as templates show it. `startedAt`: when the flow began, in ms since 1970. */

function showStep(step: NumberedStep, startedAt: number) {
  const { request, response } = step
  return {
    ...step,
    offset: ((Date.parse(step.at) - startedAt) / 1000).toFixed(2),
    /** The title without the status, for an audience. */
    headline: step.title.replace(/: \d{3}\b.*$/, ''),
    /** Which way the arrow points in the diagram; null: it stays where it is. */
    direction:
      step.from === step.to ? null : LANES.indexOf(step.from) < LANES.indexOf(step.to) ? 'right' : 'left',
    fromName: LANE_NAMES[step.from],
    toName: LANE_NAMES[step.to],
    text: textOf(step),
    curl: request ? curlOf(request) : null,
    sent: request
      ? [...Object.entries(request.headers).map(showHeader), ...request.parameters.map(showParameter)]
      : [],
    received: response
      ? [...Object.entries(response.headers).map(showHeader), ...response.parameters.map(showParameter)]
      : [],
  }
}

/** The data of a page about a flow. `active`: the number of the step to highlight. `businessName`: if it is known. */
export function flowPage(
  flow: Flow,
  { active, businessName }: { active?: number; businessName?: string | undefined } = {},
) {
  const steps = numberedSteps(flow)
  const path = `/flows/${encodeURIComponent(flow.id)}`
  const summary = flowRow(summarize(flow))
  const shown = steps.map((step) => showStep(step, Date.parse(summary.startedAt)))

  return {
    title: flow.bxcontext ? `${summary.title}: ${businessName ?? flow.bxcontext}` : summary.title,
    flow: { ...summary, imported: flow.imported, omitted: flow.omitted },
    path,
    steps: shown,
    /** The parameters of all steps, each once for an explanation. */
    everything: {
      sent: shown.flatMap(({ sent }) => sent),
      received: shown.flatMap(({ received }) => received),
    },
    presented,
    tokens: compareTokens(steps),
    diagram: drawDiagram(steps, { hrefOf: (number) => `${path}/steps/${number}`, active }),
    ...ASSETS,
  }
}

/** What a refresh did to the refresh token: kept, rotated, or unknown; null if the flow has no successful refresh. */
export function compareTokens(steps: readonly NumberedStep[]): 'same' | 'rotated' | 'not named' | null {
  const refresh = steps.findLast(({ topic, failure }) => topic === 'token_refresh' && !failure)
  if (!refresh) return null
  const find = (parameters: readonly Parameter[] = []) =>
    parameters.find(({ name }) => name === 'refresh_token')?.fingerprint
  const [sent, received] = [find(refresh.request?.parameters), find(refresh.response?.parameters)]
  if (!received) return 'not named'
  return sent === received ? 'same' : 'rotated'
}

/** A flow as JSON, each parameter with its explanation. */
export function flowJson(flow: Flow) {
  const { steps: _, storedAt: __, ...summary } = summarize(flow)
  const explained = (parameters: readonly Parameter[]) =>
    parameters.map((parameter) => ({ ...parameter, explanation: explain(parameter.name) }))
  return {
    ...summary,
    omitted: flow.omitted,
    steps: numberedSteps(flow).map(({ request, response, ...step }) => ({
      ...step,
      ...(request && { request: { ...request, parameters: explained(request.parameters) } }),
      ...(response && { response: { ...response, parameters: explained(response.parameters) } }),
    })),
  }
}
