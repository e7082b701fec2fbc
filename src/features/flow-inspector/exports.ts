import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { badInput } from '../../web/errors.ts'
import { type Flow, flowSchema, LANE_NAMES, LANES } from './flow.ts'
import { withHiddenPages } from './platform-pages.ts'

const FORMAT = { format: 'connect-flow', version: 1 } as const

const exportedSchema = z.object({
  format: z.literal(FORMAT.format),
  version: z.literal(FORMAT.version),
  flow: flowSchema.omit({ id: true, imported: true }),
})

/** The flow as JSON, for `importFlow`. */
export function exportJson({ id: _, imported: __, ...flow }: Flow): string {
  return `${JSON.stringify({ ...FORMAT, flow }, null, 2)}\n`
}

/** Reads an exported flow. Throws `invalid_input` (400) with what is wrong. */
export function importFlow(json: unknown, id: string): Flow {
  const parsed = exportedSchema.safeParse(json)
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') || 'the whole file'
    throw badInput('file', `is not an exported flow of this version (${where})`)
  }
  if (parsed.data.flow.steps.length === 0) throw badInput('file', 'is a flow without steps')
  return { ...parsed.data.flow, id, imported: true }
}

/** The flow as a Mermaid sequence diagram. */
export function exportMermaid(flow: Flow): string {
  const participants = LANES.map((lane) => `  participant ${lane} as ${plain(LANE_NAMES[lane])}`)
  const steps = withHiddenPages(flow.steps).map(({ from, to, title }, index) => {
    const label = plain(`${index + 1}. ${title}`)
    return from === to ? `  Note over ${from}: ${label}` : `  ${from}->>${to}: ${label}`
  })
  return `${['sequenceDiagram', ...participants, ...steps].join('\n')}\n`
}

/** Text without the characters that Mermaid gives a meaning. */
const plain = (text: string) =>
  text
    .replace(/[;#:<>{}"`\\%]|\s+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()

/** The styles of a page that works without this app. */
export function inlineStyles(): string {
  const files = ['base.css', 'app.css', 'flow-inspector/flows.css']
  const read = (file: string) =>
    readFileSync(new URL(`../../../views/public/${file}`, import.meta.url), 'utf8')
  return files.map(read).join('\n')
}
