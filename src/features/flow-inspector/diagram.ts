import { escapeHtml } from '../../web/format.ts'
import { LANE_NAMES, LANES, type Lane } from './flow.ts'
import type { NumberedStep } from './flow-reader.ts'

const LANE_WIDTH = 136
const LEFT = 76
const TOP = 56
const ROW = 44
/** How far below its request an answer is drawn. */
const ANSWER = 9
const WIDTH = LEFT + LANE_WIDTH * (LANES.length - 1) + 130
const MAX_LABEL = 72
/** How many colours and shapes fingerprints have. */
const COLOURS = 12
const SHAPES = 3
const MAX_MARKS = 6

const xOf = (lane: Lane) => LEFT + LANES.indexOf(lane) * LANE_WIDTH

/** The classes that give a fingerprint its two colours and its shape: the same value has the same ones everywhere. */
export function colourOf(fingerprint: string): string {
  const number = Number.parseInt(fingerprint.slice(-6), 16)
  const [first, second] = [number % COLOURS, Math.floor(number / COLOURS) % COLOURS]
  return `fp-${first} fq-${second} shape-${Math.floor(number / COLOURS ** 2) % SHAPES}`
}

/** The fingerprints of a step, each once. */
function fingerprintsOf({ request, response }: NumberedStep): string[] {
  const parameters = [...(request?.parameters ?? []), ...(response?.parameters ?? [])]
  const bearer = /[^ ]+$/.exec(request?.headers.authorization ?? '')?.[0]
  const all = parameters.flatMap(({ fingerprint }) => fingerprint ?? [])
  return [...new Set(bearer ? [...all, bearer] : all)]
}

/**
 * Draws the steps as a sequence diagram in SVG. It is hidden from screen readers: pages also have the steps as a list.
 * `hrefOf`: the address of a step, if it has one. `active`: the number of the step to highlight.
 */
export function drawDiagram(
  steps: readonly NumberedStep[],
  { hrefOf, active }: { hrefOf?: (number: number) => string; active?: number | undefined } = {},
): string {
  const height = TOP + steps.length * ROW + 24
  const lanes = LANES.map((lane) => drawLane(lane, height)).join('')
  const rows = steps.map((step, index) => drawStep(step, index, step.number === active, hrefOf)).join('')
  return `<svg class="sequence" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" aria-hidden="true" focusable="false"><defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0 L10 5 L0 10 z"/></marker></defs>${lanes}${rows}</svg>`
}

function drawLane(lane: Lane, height: number): string {
  const x = xOf(lane)
  const [first = '', second = ''] = LANE_NAMES[lane].split(': ')
  const name = second
    ? `<text class="lane" x="${x}" y="16">${first}</text><text class="lane" x="${x}" y="32">${second}</text>`
    : `<text class="lane" x="${x}" y="32">${first}</text>`
  return `<line class="lane-line" x1="${x}" y1="42" x2="${x}" y2="${height}"/>${name}`
}

function drawStep(
  step: NumberedStep,
  index: number,
  isActive: boolean,
  hrefOf: ((number: number) => string) | undefined,
): string {
  const y = TOP + index * ROW + 26
  const [from, to] = [xOf(step.from), xOf(step.to)]
  const classes = [
    'step',
    isActive && 'active',
    step.failure && 'failed',
    step.topic === 'platform_hidden' && 'unseen',
  ]
  const label = step.title.length > MAX_LABEL ? `${step.title.slice(0, MAX_LABEL - 1)}…` : step.title
  const isRight = Math.min(from, to) > WIDTH / 2
  const labelX = isRight ? Math.max(from, to) - 8 : Math.min(from, to) + 8
  const anchor = isRight ? 'end' : 'start'
  const arrow =
    from === to ? `<circle class="dot" cx="${from}" cy="${y}" r="5"/>` : drawArrow(step, from, to, y)
  const content = `<rect class="row" x="0" y="${y - 28}" width="${WIDTH}" height="${ROW}"/>${arrow}<text class="number" x="14" y="${y + 4}">${step.number}</text><text class="label" x="${labelX}" y="${y - 8}" text-anchor="${anchor}">${escapeHtml(label)}</text>${drawMarks(step, y)}`
  const group = `<g class="${classes.filter(Boolean).join(' ')}">${content}</g>`
  return hrefOf ? `<a href="${escapeHtml(hrefOf(step.number))}" tabindex="-1">${group}</a>` : group
}

/** A request is a solid arrow, and an answer, such as a redirect, a dashed one. */
function drawArrow({ request, response }: NumberedStep, from: number, to: number, y: number): string {
  const line = (x1: number, x2: number, at: number, isAnswer: boolean) =>
    `<line class="arrow${isAnswer ? ' answer' : ''}" x1="${x1}" y1="${at}" x2="${x2}" y2="${at}" marker-end="url(#head)"/>`
  if (!request) return line(from, to, y, response !== undefined)
  return line(from, to, y, false) + (response ? line(to, from, y + ANSWER, true) : '')
}

/** A mark in the colours and the shape of each fingerprint, as in the styles of `.swatch`. */
const drawMarks = (step: NumberedStep, y: number) =>
  fingerprintsOf(step)
    .slice(0, MAX_MARKS)
    .map((fingerprint, index) => drawMark(fingerprint, WIDTH - 16 - index * 16, y))
    .join('')

function drawMark(fingerprint: string, x: number, y: number): string {
  const colours = colourOf(fingerprint)
  const isRound = colours.endsWith('shape-1')
  const turn = colours.endsWith('shape-2') ? ` transform="rotate(45 ${x} ${y})"` : ''
  const [left, right] = isRound ? ['a6 6 0 0 0 0 12z', 'a6 6 0 0 1 0 12z'] : ['h-6v12h6z', 'h6v12h-6z']
  const start = `M${x} ${y - 6}`
  return `<g class="mark ${colours}"${turn}><title>${escapeHtml(fingerprint)}</title><path class="first" d="${start}${left}"/><path class="second" d="${start}${right}"/></g>`
}
