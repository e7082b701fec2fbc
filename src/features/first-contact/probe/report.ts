import type { Recording } from './recording.ts'
import type { Result, Status } from './results.ts'

/** What `npm run probe` writes as JSON. It holds no value of the platform: names, types and statuses only. */
export interface Report {
  /** ISO 8601. */
  probedAt: string
  platform: { appUrl: string; authUrl: string; apiUrl: string }
  /** Whether records were created. */
  write: boolean
  results: Result[]
  /** With `--record`: how the platform answers, for `npm run sandbox -- --as FILE`. */
  recording?: Recording
}

const HEADINGS: Record<Status, string> = {
  different: 'Different',
  'not seen': 'Not seen',
  'not checked': 'Not checked by the probe',
  confirmed: 'Confirmed',
}

/** In the order of the report. */
const STATUSES = ['different', 'not seen', 'confirmed', 'not checked'] as const

/** `30 confirmed, 3 different (1 of them breaks the app), 5 not seen`. */
export function summaryOf(results: readonly Result[]): string {
  const count = (status: Status) => results.filter((result) => result.status === status).length
  const breaking = results.filter(({ status, copes }) => status === 'different' && !copes).length
  const different = `${count('different')} different${breaking > 0 ? ` (the app does not work with ${breaking} of them)` : ''}`
  return `${count('confirmed')} confirmed, ${different}, ${count('not seen')} not seen`
}

/** The report for a terminal: what must change comes first. */
export function toLines(results: readonly Result[]): string[] {
  const different = results.filter(({ status }) => status === 'different')
  return [
    ...different
      .filter(({ copes }) => !copes)
      .map(({ id, seen, change }) => `must change  ${id}: ${seen} (${change})`),
    ...different
      .filter(({ copes }) => copes)
      .map(({ id, seen }) => `different    ${id}: ${seen}. The app works`),
    ...results
      .filter(({ status }) => status === 'not seen')
      .map(({ id, seen }) => `not seen     ${id}: ${seen}`),
  ]
}

/** The report as Markdown: what differs first. */
export function toMarkdown({ probedAt, platform, write, results }: Report): string {
  const sections = STATUSES.map((status) =>
    section(
      status,
      results.filter((result) => result.status === status),
    ),
  )
  return `# The platform compared with the assumptions

${platform.appUrl}, ${platform.authUrl}, ${platform.apiUrl}: ${probedAt}, ${write ? 'with' : 'without'} writing.
${summaryOf(results)}.

${sections.filter((text) => text !== '').join('\n')}`
}

function section(status: Status, results: readonly Result[]): string {
  if (results.length === 0) return ''
  const rows = results.map(({ id, topic, assumed, seen, copes, cure, change, setting }) => {
    const cells = [`\`${id}\``, topic, assumed, seen]
    if (status !== 'different') return cells
    const places = [setting, change && `\`${change}\``].filter(Boolean).join(', ')
    return [...cells, copes ? 'yes' : '**no**', `${cure} (${places})`]
  })
  const last = status === 'not seen' || status === 'not checked' ? 'How to see it' : 'Seen'
  const headings = [
    'Id',
    'About',
    'Assumed',
    last,
    ...(status === 'different' ? ['The app works', 'What to do'] : []),
  ]
  const table = [headings, headings.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
  return `## ${HEADINGS[status]}\n\n${table.join('\n')}\n`
}
