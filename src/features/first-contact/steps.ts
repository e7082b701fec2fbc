import type { Finding } from '../../web/kit.ts'

export interface SetupState {
  /** Whether the platform is the sandbox. */
  isSandbox: boolean
  hasConnection: boolean
  hasOwnSignIn: boolean
  findings: readonly Finding[]
  /** What `npm run doctor -- --consent` last found on this platform; undefined if it has not run there. */
  compared: readonly Finding[] | undefined
}

export interface Step {
  /** The page has the texts of each step. */
  id: 'demo' | 'registration' | 'credentials' | 'contract' | 'sign-in' | 'pages' | 'deploy'
  status: 'done' | 'next' | 'open'
}

/** The steps from a clone to production: what is done, and what is next. */
export function stepsOf({ isSandbox, hasConnection, hasOwnSignIn, findings, compared }: SetupState): Step[] {
  const isFine = (found: readonly Finding[]) => found.every(({ status }) => status !== 'failure')
  const hasCredentials = !isSandbox && isFine(findings)
  const steps: [Step['id'], isDone: boolean][] = [
    ['demo', hasConnection || !isSandbox],
    ['registration', !isSandbox],
    ['credentials', hasCredentials],
    ['contract', hasCredentials && compared !== undefined && isFine(compared)],
    ['sign-in', hasOwnSignIn],
    ['pages', false],
    ['deploy', false],
  ]
  const next = steps.findIndex(([, isDone]) => !isDone)
  return steps.map(([id, isDone], index) => ({
    id,
    status: isDone ? 'done' : index === next ? 'next' : 'open',
  }))
}
