import { readFileSync } from 'node:fs'
import type { Finding } from '../../../web/kit.ts'

/** The file with the report of a check with a consent, in the current folder. */
export const REPORT = 'doctor-report.json'

/** What a check with a consent writes as JSON. See `createComparisons` for what it has of the platform. */
export interface Report {
  /** ISO 8601. */
  checkedAt: string
  platform: { appUrl: string; authUrl: string; apiUrl: string }
  /** Whether records were created. */
  write: boolean
  /** One for each assumption. */
  findings: Finding[]
}

/** The sections of the report, in their order. */
const SECTIONS: [Finding['status'], heading: string][] = [
  ['failure', 'Different, and the app does not work'],
  ['warning', 'Different, and the app works'],
  ['not seen', 'Not seen'],
  ['ok', 'Confirmed'],
  ['not checked', 'Not checked'],
]

/** Counts the findings: `30 confirmed, 3 different (the app does not work with 1 of them), 5 not seen`. */
export function summaryOf(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length
  const breaking = count('failure')
  const different = `${count('warning') + breaking} different`
  const note = breaking > 0 ? ` (the app does not work with ${breaking} of them)` : ''
  return `${count('ok')} confirmed, ${different}${note}, ${count('not seen')} not seen`
}

/** The findings by their status: what must change comes first. */
export const sectionsOf = (findings: readonly Finding[]): { heading: string; findings: Finding[] }[] =>
  SECTIONS.map(([status, heading]) => ({
    heading,
    findings: findings.filter((finding) => finding.status === status),
  })).filter((section) => section.findings.length > 0)

/** What the report of the last check found, if there is one for this platform. */
export function readReport(apiUrl: string, file = REPORT): Finding[] | undefined {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return report.platform.apiUrl === apiUrl && Array.isArray(report.findings) ? report.findings : undefined
  } catch {
    // The file is missing, or another version wrote it.
    return undefined
  }
}
