import { readFileSync } from 'node:fs'
import type { Finding } from '../tools.ts'

export interface Step {
  id: string
  title: string
  status: 'done' | 'next' | 'open'
  /** What is done, or what is missing. */
  state: string
}

export interface SetupState {
  /** Whether the platform is the sandbox. */
  isSandbox: boolean
  hasConnection: boolean
  hasOwnSignIn: boolean
  /** Undefined while the first run of the doctor is in progress. */
  findings: Finding[] | undefined
  probe: ProbeSummary | undefined
}

export interface ProbeSummary {
  confirmed: number
  different: number
  notSeen: number
  /** Differences with which the app does not work. */
  breaking: number
}

/** The steps from a clone to production: what is done, and what is next. */
export function stepsOf({ isSandbox, hasConnection, hasOwnSignIn, findings, probe }: SetupState): Step[] {
  const failures = findings?.filter(({ status }) => status === 'failure').length
  const hasCredentials = !isSandbox && failures === 0
  const steps = [
    step(
      'demo',
      'Try the demo',
      hasConnection || !isSandbox,
      hasConnection
        ? 'An account is connected.'
        : isSandbox
          ? 'Connect an account of the sandbox.'
          : 'The settings are no longer those of the sandbox.',
    ),
    step(
      'registration',
      'Register with the platform',
      !isSandbox,
      isSandbox ? 'The settings are those of the sandbox.' : 'The settings have addresses of a platform.',
    ),
    step('credentials', 'Enter your credentials', hasCredentials, credentialsState(isSandbox, failures)),
    step(
      'probe',
      'Check the contract with one real consent',
      hasCredentials && probe?.breaking === 0,
      probeState(probe),
    ),
    step(
      'sign-in',
      'Use your own sign-in',
      hasOwnSignIn,
      hasOwnSignIn
        ? 'The demo sign-in was replaced.'
        : 'The demo sign-in accepts any name. Production refuses to start with it.',
    ),
    step(
      'pages',
      'Build your product',
      false,
      'Replace the example features, and remove those that you do not need.',
    ),
    step('deploy', 'Deploy', false, 'Run the doctor in production as well.'),
  ]
  const next = steps.find(({ status }) => status === 'open')
  return steps.map((each) => (each === next ? { ...each, status: 'next' } : each))
}

const step = (id: string, title: string, isDone: boolean, state: string): Step => ({
  id,
  title,
  status: isDone ? 'done' : 'open',
  state,
})

function credentialsState(isSandbox: boolean, failures: number | undefined): string {
  if (failures === undefined) return 'The doctor is checking.'
  if (failures > 0) return `The doctor found ${failures === 1 ? 'one problem' : `${failures} problems`}.`
  return isSandbox
    ? 'The sandbox is ready. Enter the credentials of the platform when you have them.'
    : 'The doctor found no failure.'
}

const probeState = (probe: ProbeSummary | undefined) =>
  probe
    ? `probe-report.md has ${probe.confirmed} assumptions confirmed, ${probe.different} different and ${probe.notSeen} not seen.${probe.breaking > 0 ? ` The app does not work with ${probe.breaking} of the differences.` : ''}`
    : 'There is no report of the probe for this platform.'

/** Reads the report of `npm run probe` in the current folder; undefined if there is none for this platform. */
export function readProbeReport(apiUrl: string, file = 'probe-report.json'): ProbeSummary | undefined {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'))
    if (report.platform.apiUrl !== apiUrl) return undefined
    const count = (status: string) =>
      report.results.filter((result: { status: string }) => result.status === status).length
    const breaking = report.results.filter((result: { copes?: boolean }) => result.copes === false).length
    return {
      confirmed: count('confirmed'),
      different: count('different'),
      notSeen: count('not seen'),
      breaking,
    }
  } catch {
    // Missing, or written by another version.
    return undefined
  }
}
