import { setTimeout as pause } from 'node:timers/promises'
import type { Flow, Kind, Step, Summary } from '../flow.ts'
import { compareTokens } from '../pages.ts'
import { BACKOFF_MS, BUSINESS, OTHER_BUSINESS, type Stage } from './stage.ts'

/** Something that a scenario looked at. */
export interface Observation {
  expected: string
  observed: string
  ok: boolean
}

export interface Scenario {
  /** Its name in addresses. */
  name: string
  title: string
  /** What happens, and what the app should do. */
  expect: string
  /** Whether it needs a feature that calls the API (`connectionTest`). */
  needsApi?: boolean
  /** Whether a flow shows what the scenario is about. */
  shows(flow: Flow, summary: Summary): boolean
  run(stage: Stage): Promise<Observation[]>
}

const ofKind = (kind: Kind) => (_flow: Flow, summary: Summary) => summary.kind === kind
const withOutcome = (outcome: string) => (_flow: Flow, summary: Summary) => summary.outcome === outcome
const withStep = (topic: Step['topic']) => (flow: Flow) => flow.steps.some((step) => step.topic === topic)

const observe = (expected: string, observed: unknown, ok: boolean): Observation => ({
  expected,
  observed: String(observed),
  ok,
})

const equals = (what: string, expected: unknown, observed: unknown) =>
  observe(`${what}: ${expected}`, observed, observed === expected)

const NAMES: Record<string, string> = { [BUSINESS]: 'Demo Builders', [OTHER_BUSINESS]: 'Demo Renovations' }

async function status(stage: Stage, expected: string, bxcontext = BUSINESS): Promise<Observation> {
  const { status: observed = 'not connected' } = (await stage.connection(bxcontext)) ?? {}
  return equals(NAMES[bxcontext] ?? bxcontext, expected, observed)
}

/** All steps of this scenario's flows. */
async function steps(stage: Stage): Promise<Step[]> {
  return (await stage.flows()).flatMap(({ flow }) => flow.steps)
}

/** How many requests the platform received, whatever the app has recorded. */
const exchanges = async (stage: Stage, expected: number) =>
  equals('Code exchanges at the platform', expected, await stage.tokenRequests('exchange'))
const refreshes = async (stage: Stage, expected: number) =>
  equals('Refreshes at the platform', expected, await stage.tokenRequests('refresh'))

/** The statuses of the API calls, in their order. */
async function apiStatuses(stage: Stage, expected: string): Promise<Observation> {
  const statuses = (await steps(stage)).filter(({ topic }) => topic === 'api_call')
  return equals(
    'Answers of the API',
    expected,
    statuses.map(({ response }) => response?.status ?? 'no answer').join(', '),
  )
}

const CALLERS = 100
/** The sandbox's short-lived tokens are valid for 1 s. */
const SHORT_LIFE_MS = 1_100

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'happy-path',
    needsApi: true,
    title: 'Connect an account',
    expect:
      'The user allows everything. The app exchanges the code once, stores the tokens, and calls the API.',
    shows: ofKind('connect'),
    async run(stage) {
      await stage.connect()
      return [
        await status(stage, 'active'),
        equals('Testing the connection', '200', await stage.callApi()),
        await exchanges(stage, 1),
      ]
    },
  },
  {
    name: 'denied',
    title: 'The user denies access',
    expect: 'The app says that access was not granted, exchanges nothing, and stores nothing.',
    shows: withOutcome('consent_denied'),
    async run(stage) {
      const page = await stage.connect({ answer: 'deny' })
      return [
        equals('The app answers', 'consent_denied', await stage.problemAt(page.url)),
        await status(stage, 'not connected'),
        await exchanges(stage, 0),
      ]
    },
  },
  {
    name: 'missing-permission',
    title: 'One permission is left out',
    expect: 'The app is connected, names the permission that is missing, and offers to ask for it again.',
    shows: ofKind('connect'),
    async run(stage) {
      const [missing = '', ...granted] = stage.scopes
      await stage.connect({ granted })
      const connection = await stage.connection()
      return [
        await status(stage, 'needs_consent'),
        equals('Missing permission', missing, connection?.missingScopes.join(', ')),
      ]
    },
  },
  {
    name: 'token-expires',
    needsApi: true,
    title: 'The access token expires',
    expect: 'The API answers 401. The app refreshes once, with the same refresh token, and repeats the call.',
    shows: ofKind('api_call'),
    async run(stage) {
      await stage.connect()
      await stage.sandbox.expire(BUSINESS)
      const answer = await stage.callApi()
      const numbered = (await steps(stage)).map((step, index) => ({ ...step, number: index + 1 }))
      return [
        equals('Testing the connection', '200', answer),
        await apiStatuses(stage, '401, 200'),
        await refreshes(stage, 1),
        equals('Refresh token', 'same', compareTokens(numbered)),
      ]
    },
  },
  {
    name: 'hundred-callers',
    title: '100 callers at the moment of expiry',
    expect: 'One caller refreshes, 99 wait for its result, and all of them get the same token.',
    shows: ofKind('refresh'),
    async run(stage) {
      await stage.sandbox.fault('exchange', 'short_lived', 1)
      await stage.connect()
      await pause(SHORT_LIFE_MS)
      const results = await stage.callVault(CALLERS)
      const tokens = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      return [
        equals('Callers that got a token', CALLERS, tokens.length),
        equals('Different tokens', 1, new Set(tokens).size),
        await refreshes(stage, 1),
      ]
    },
  },
  {
    name: 'revoked',
    needsApi: true,
    title: 'Access is revoked on the platform',
    expect:
      'The next call notices it. The app deletes the tokens, says when and why, and offers to reconnect.',
    shows: ofKind('revocation'),
    async run(stage) {
      await stage.connect()
      await stage.sandbox.revoke()
      return [
        equals('Testing the connection', 'connection_revoked', await stage.callApi()),
        await status(stage, 'revoked'),
        await refreshes(stage, 1),
      ]
    },
  },
  {
    name: 'outage',
    needsApi: true,
    title: 'The token endpoint is down',
    expect: 'The call fails, the connection is kept and shown as degraded, and it recovers by itself.',
    shows: withStep('token_refresh'),
    async run(stage) {
      await stage.connect()
      await stage.sandbox.expire(BUSINESS)
      await stage.sandbox.fault('refresh', '500', 1)
      const during = await stage.callApi()
      const degraded = await status(stage, 'degraded')
      await pause(BACKOFF_MS)
      return [
        equals('API call during the outage', 'platform_unavailable', during),
        degraded,
        equals('API call after the outage', '200', await stage.callApi()),
        await status(stage, 'active'),
      ]
    },
  },
  {
    name: 'rate-limited',
    needsApi: true,
    title: 'The platform answers 429',
    expect: 'The app waits as long as the platform asks for (Retry-After), and repeats the call.',
    shows: ofKind('api_call'),
    async run(stage) {
      await stage.connect()
      for (const endpoint of stage.scopes) await stage.sandbox.fault(endpoint, '429', 1)
      const answer = await stage.callApi()
      return [
        equals('Testing the connection', '200', answer),
        await apiStatuses(stage, '429, 200'),
        await refreshes(stage, 0),
      ]
    },
  },
  {
    name: 'callback-twice',
    title: 'The callback is opened twice',
    expect: 'The code is exchanged once. The second time, the app shows the outcome of the first.',
    shows: ofKind('connect'),
    async run(stage) {
      const callback = await stage.consent(await stage.chooseBusiness())
      await stage.open(callback)
      const second = await stage.open(callback)
      return [
        equals('The second time leads to', '/connections', new URL(second.url).pathname),
        await status(stage, 'active'),
        await exchanges(stage, 1),
      ]
    },
  },
  {
    name: 'foreign-state',
    title: 'A callback with a foreign state',
    expect: 'Somebody else’s answer is refused before its code is sent anywhere. Nothing is stored.',
    shows: withOutcome('invalid_state'),
    async run(stage) {
      const callback = new URL(await stage.consent(await stage.chooseBusiness()))
      callback.searchParams.set('state', 'a-state-that-this-browser-never-sent')
      const page = await stage.open(callback.href)
      return [
        equals('The app answers', 'invalid_state', await stage.problemAt(page.url)),
        await status(stage, 'not connected'),
        await exchanges(stage, 0),
      ]
    },
  },
  {
    name: 'planted-bxcontext',
    title: 'A planted bxcontext',
    expect: 'A link brings a bxcontext although the user started nothing. The app refuses it.',
    shows: withOutcome('missing_authorization_request'),
    async run(stage) {
      const planted = `${stage.bxcontextUrl}?${stage.platform.startPage.bxcontext}=${OTHER_BUSINESS}`
      return [
        equals('The app answers', 'missing_authorization_request', await stage.problemAt(planted)),
        await status(stage, 'not connected', OTHER_BUSINESS),
        await exchanges(stage, 0),
      ]
    },
  },
  {
    name: 'other-business',
    title: 'Another business is chosen when reconnecting',
    expect: 'The app notices that it is not the business to reconnect, and asks before it stores anything.',
    shows: withStep('confirm_bxcontext'),
    async run(stage) {
      await stage.connect()
      const page = await stage.open(await stage.chooseBusiness(OTHER_BUSINESS, BUSINESS))
      return [
        equals('The app asks at', '/connect/confirm', new URL(page.url).pathname.split('/', 3).join('/')),
        await status(stage, 'active'),
        await status(stage, 'not connected', OTHER_BUSINESS),
      ]
    },
  },
  {
    name: 'two-tabs',
    title: 'Two tabs at once',
    expect: 'Two connect flows run side by side in one browser. Each ends in its own connection.',
    shows: ofKind('connect'),
    async run(stage) {
      const first = await stage.chooseBusiness(BUSINESS)
      const firstCallback = await stage.consent(first)
      const secondCallback = await stage.consent(await stage.chooseBusiness(OTHER_BUSINESS))
      await stage.open(secondCallback)
      await stage.open(firstCallback)
      return [
        await status(stage, 'active', BUSINESS),
        await status(stage, 'active', OTHER_BUSINESS),
        await exchanges(stage, 2),
      ]
    },
  },
]
