/** What the templates of flows need. */

import { colourOf, drawDiagram } from './diagram.ts'
import { type Flow, type KINDS, LANE_NAMES, type Parameter, type Summary, summarize } from './flow.ts'
import { type NumberedStep, numberedSteps } from './flow-reader.ts'
import { type Explanation, explain } from './parameter-texts.ts'
import { STEP_TEXTS } from './step-texts.ts'

const KIND_TITLES: Record<(typeof KINDS)[number], string> = {
  connect: 'Connect an account',
  refresh: 'Refresh a token',
  api_call: 'API call',
  revocation: 'Revocation detected',
  disconnect: 'Disconnect',
  webhook: 'Webhook',
}

const GOOD = new Set(['connected', 'refreshed', 'answered', 'disconnected', 'received'])

/** A summary for the list: its title, and how the outcome is shown. */
export function flowRow(summary: Summary) {
  const { kind, outcome, startedAt, endedAt } = summary
  const isOpen = outcome === 'running' || outcome === 'abandoned'
  return {
    ...summary,
    title: KIND_TITLES[kind],
    tone: GOOD.has(outcome) ? 'connected' : isOpen ? 'degraded' : 'revoked',
    seconds: endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000,
  }
}

/** A parameter with its explanation and the colour of its fingerprint. */
export interface ShownParameter extends Parameter {
  explanation: Explanation
  colour: string | null
}

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

export type ShownStep = ReturnType<typeof showStep>

export function showStep(step: NumberedStep) {
  const { request, response } = step
  return {
    ...step,
    fromName: LANE_NAMES[step.from],
    toName: LANE_NAMES[step.to],
    text: STEP_TEXTS[step.topic],
    sent: request
      ? [...Object.entries(request.headers).map(showHeader), ...request.parameters.map(showParameter)]
      : [],
    received: response
      ? [...Object.entries(response.headers).map(showHeader), ...response.parameters.map(showParameter)]
      : [],
  }
}

/** The data of a page about a flow. `active`: the number of the step to highlight. */
export function flowPage(flow: Flow, active?: number) {
  const steps = numberedSteps(flow)
  const path = `/flows/${encodeURIComponent(flow.id)}`
  const summary = flowRow(summarize(flow))
  return {
    title: flow.bxcontext ? `${summary.title}: ${flow.bxcontext}` : summary.title,
    flow: { ...summary, imported: flow.imported, omitted: flow.omitted },
    path,
    steps: steps.map(showStep),
    tokens: compareTokens(steps),
    diagram: drawDiagram(steps, { hrefOf: (number) => `${path}/steps/${number}`, active }),
    styles: ['/assets/flow-inspector/flows.css'],
    scripts: ['/assets/flow-inspector/flows.js'],
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
  const { steps: _, ...summary } = summarize(flow)
  const explained = (parameters: readonly Parameter[]) =>
    parameters.map((parameter) => ({ ...parameter, explanation: explain(parameter.name) }))
  return {
    ...summary,
    imported: flow.imported,
    omitted: flow.omitted,
    steps: numberedSteps(flow).map(({ request, response, ...step }) => ({
      ...step,
      ...(request && { request: { ...request, parameters: explained(request.parameters) } }),
      ...(response && { response: { ...response, parameters: explained(response.parameters) } }),
    })),
  }
}
