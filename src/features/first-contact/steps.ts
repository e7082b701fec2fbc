import type { Finding } from '../tools.ts'
import { summaryOf } from './consent/report.ts'

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
  findings: readonly Finding[]
  /** What the last check with a consent found on this platform; undefined: there was none. */
  compared: readonly Finding[] | undefined
}

/** The steps from a clone to production: what is done, and what is next. */
export function stepsOf({ isSandbox, hasConnection, hasOwnSignIn, findings, compared }: SetupState): Step[] {
  const failures = failuresIn(findings)
  const hasCredentials = !isSandbox && failures === 0
  const steps = [
    step('demo', 'Try the demo', hasConnection || !isSandbox, demoState(hasConnection, isSandbox)),
    step(
      'registration',
      'Register with the platform',
      !isSandbox,
      isSandbox ? 'The settings are those of the sandbox.' : 'The settings have addresses of a platform.',
    ),
    step('credentials', 'Enter your credentials', hasCredentials, credentialsState(isSandbox, failures)),
    step(
      'contract',
      'Check the contract with one real consent',
      hasCredentials && compared !== undefined && failuresIn(compared) === 0,
      compared ? `${summaryOf(compared)}.` : 'No consent was checked on this platform.',
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

const failuresIn = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status === 'failure').length

const step = (id: string, title: string, isDone: boolean, state: string): Step => ({
  id,
  title,
  status: isDone ? 'done' : 'open',
  state,
})

function demoState(hasConnection: boolean, isSandbox: boolean): string {
  if (hasConnection) return 'An account is connected.'
  return isSandbox ? 'Connect an account of the sandbox.' : 'The settings are no longer those of the sandbox.'
}

function credentialsState(isSandbox: boolean, failures: number): string {
  if (failures > 0) return `The doctor found ${failures === 1 ? 'one problem' : `${failures} problems`}.`
  return isSandbox
    ? 'The sandbox is ready. Enter the credentials of the platform when you have them.'
    : 'The doctor found no failure.'
}
