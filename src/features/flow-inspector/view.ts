/** Prepares a flow for its pages, the presenter, the handout, exports and JSON. */
import * as z from 'zod'
import { format } from '../../web/feature-api.ts'
import { curlOf } from './curl.ts'
import {
  current,
  type Flow,
  type Kind,
  LANE_NAMES,
  LANES,
  type Parameter,
  type Step,
  type Summary,
  stepSchema,
  summarize,
  summarySchema,
} from './flow.ts'
import { explain } from './parameter-texts.ts'
import { withPlatformPages } from './platform-pages.ts'
import { STEP_TEXTS } from './step-texts.ts'

/** The styles and scripts of all pages of this feature, and the names of the lanes. */
export const PAGE_DATA = {
  styles: ['/assets/flow-inspector/flows.css'],
  scripts: ['/assets/flow-inspector/flows.js'],
  lanes: LANES.map((lane) => LANE_NAMES[lane].split(': ')),
}

const KIND_TITLES: Record<Kind, string> = {
  connect: 'Connect a business',
  refresh: 'Refresh a token',
  api_call: 'API call',
  revocation: 'Revocation detected',
  disconnect: 'Disconnect',
}

const GOOD = new Set(['connected', 'refreshed', 'answered', 'disconnected'])
const OPEN = new Set(['running', 'abandoned'])

/** The number of colours and shapes for fingerprints, and the most marks that a step in the diagram can have. */
const COLOURS = 12
const SHAPES = 3
const MAX_MARKS = 6

/** The summary of a flow for the list, with its title and a label for its outcome. */
export function rowOf(summary: Summary) {
  const { kind, outcome, startedAt, endedAt } = summary
  const ms = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt)
  return {
    ...summary,
    title: KIND_TITLES[kind],
    tone: GOOD.has(outcome) ? 'connected' : OPEN.has(outcome) ? 'degraded' : 'revoked',
    /** Null while the flow runs. */
    duration: ms === null ? null : ms < 100 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`,
    label: outcome === 'running' ? 'in progress' : outcome.replaceAll('_', ' '),
  }
}

/** A parameter or a header with its explanation and the classes of its fingerprint's mark. */
export function showParameter(parameter: Parameter) {
  const { name, fingerprint } = parameter
  return { ...parameter, explanation: explain(name), colour: fingerprint ? colourOf(fingerprint) : null }
}
export type ShownParameter = ReturnType<typeof showParameter>

/** The classes that give a fingerprint its two colours and its shape. The same value has the same classes everywhere. */
function colourOf(fingerprint: string): string {
  const number = Number.parseInt(fingerprint.slice(-6), 16)
  const [first, second] = [number % COLOURS, Math.floor(number / COLOURS) % COLOURS]
  return `fp-${first} fq-${second} shape-${Math.floor(number / COLOURS ** 2) % SHAPES}`
}

const showPart = <Part extends { headers: Parameter[]; parameters: Parameter[] }>(part: Part) => ({
  ...part,
  headers: part.headers.map(showParameter),
  parameters: part.parameters.map(showParameter),
})

/** Steps as templates show them, numbered. */
export function showSteps(steps: readonly Step[], active?: number) {
  const startedAt = Date.parse(steps[0]?.at ?? '')
  return steps.map((step, index) => {
    const { from, to } = step
    const number = index + 1
    const request = step.request && showPart(step.request)
    const response = step.response && showPart(step.response)
    const sent = request ? [...request.headers, ...request.parameters] : []
    const received = response ? [...response.headers, ...response.parameters] : []
    return {
      ...step,
      number,
      ...(request && { request }),
      ...(response && { response }),
      sent,
      received,
      /** Seconds since the flow began. */
      offset: ((Date.parse(step.at) - startedAt) / 1000).toFixed(2),
      /** The title without the status, for presentations. */
      headline: step.title.replace(/: \d{3}\b.*$/, ''),
      fromName: LANE_NAMES[from],
      toName: LANE_NAMES[to],
      ...placeOf(step),
      isActive: number === active,
      marks: marksOf([...sent, ...received]),
      text: STEP_TEXTS[step.topic],
      curl: step.request ? curlOf(step.request) : null,
    }
  })
}

/** The position of a step in the diagram. */
function placeOf({ from, to }: Step) {
  const [start, end] = [LANES.indexOf(from), LANES.indexOf(to)]
  const [left, right] = start < end ? [start, end] : [end, start]
  return {
    /** The direction of the arrow; null if the step stays in its lane. */
    direction: start === end ? null : start < end ? 'right' : 'left',
    /** Classes for the start and the end of the arrow, and for a title that fits only on the left. */
    lanes: `lane-${left} to-${right}${left > LANES.length / 2 - 1 ? ' beside' : ''}`,
  }
}

/** The secrets of a step, without duplicates. */
function marksOf(parameters: readonly ShownParameter[]): ShownParameter[] {
  const secrets = parameters.filter(({ fingerprint }) => fingerprint !== undefined)
  return [...new Map(secrets.map((secret) => [secret.fingerprint, secret])).values()].slice(0, MAX_MARKS)
}

/** A flow as templates show it. `active`: the number of the step to highlight. `name`: the user's name for the business, if any. */
export function viewOf(flow: Flow, name: string | null, active?: number) {
  const steps = withPlatformPages(flow.steps)
  const summary = rowOf(current(summarize(flow)))
  return {
    ...PAGE_DATA,
    title: name === null ? summary.title : `${summary.title}: ${format.isolated(name)}`,
    flow: { ...summary, omitted: flow.omitted },
    path: `/flows/${encodeURIComponent(flow.id)}`,
    steps: showSteps(steps, active),
    json: flowViewSchema.parse({
      ...summary,
      omitted: flow.omitted,
      steps: steps.map((step, index) => ({ ...step, number: index + 1 })),
    }),
  }
}
export type FlowView = ReturnType<typeof viewOf>

/** A list entry as JSON: the flow's summary without the members that only the store needs. */
export const listedFlowSchema = summarySchema.omit({ storedAt: true })

/** A flow with its steps as JSON. */
export const flowViewSchema = listedFlowSchema.extend({
  omitted: z.number().int(),
  steps: z.array(stepSchema.extend({ number: z.number().int() })),
})
