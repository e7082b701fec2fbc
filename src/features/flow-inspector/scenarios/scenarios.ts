import { setTimeout as pause } from 'node:timers/promises'
import type { Flow, Kind, Summary, Topic } from '../flow.ts'
import { compareTokens } from '../view.ts'
import { BACKOFF_MS, BUSINESS, OTHER_BUSINESS, type Stage } from './stage.ts'

/** What a scenario looks at, and what it finds there. */
type Facts = Record<string, unknown>

export interface Scenario {
  /** Its name in addresses. */
  name: string
  title: string
  /** What happens, and what the app should do. */
  expect: string
  /** Whether a flow shows what the scenario is about. */
  shows(summary: Summary, flow: Flow): boolean
  /** What it should find. `scopes`: those that the app asks for. */
  expected(scopes: readonly string[]): Facts
  /** Resolves to what it found on the way; all else that is expected is looked up afterwards (`FACTS`). */
  play(stage: Stage): Promise<Facts>
}

const ofKind = (kind: Kind) => (summary: Summary) => summary.kind === kind
const withOutcome = (outcome: string) => (summary: Summary) => summary.outcome === outcome
const withStep = (topic: Topic) => (_: Summary, flow: Flow) => flow.steps.some((step) => step.topic === topic)

const FIRST = 'Demo Builders'
const SECOND = 'Demo Renovations'
const TEST = 'Testing the connection'
const ANSWER = 'The app answers'
const EXCHANGES = 'Code exchanges at the platform'
const REFRESHES = 'Refreshes at the platform'
const API_ANSWERS = 'Answers of the API'
const REFRESH_TOKEN = 'Refresh token'

const stepsOf = async (stage: Stage) => (await stage.flows()).flatMap(({ flow }) => flow.steps)

/** What can be looked up when a scenario has been played. */
const FACTS: Record<string, (stage: Stage) => Promise<unknown>> = {
  [FIRST]: (stage) => stage.status(),
  [SECOND]: (stage) => stage.status(OTHER_BUSINESS),
  // What the platform received, whatever the app has recorded.
  [EXCHANGES]: (stage) => stage.tokenRequests('exchange'),
  [REFRESHES]: (stage) => stage.tokenRequests('refresh'),
  async [API_ANSWERS](stage) {
    const calls = (await stepsOf(stage)).filter(({ topic }) => topic === 'api_call')
    return calls.map(({ response }) => response?.status ?? 'no answer').join(', ')
  },
  [REFRESH_TOKEN]: async (stage) => compareTokens(await stepsOf(stage)),
}

/** Plays a scenario; resolves to each thing that it expected, and what it observed. */
export async function observe(
  scenario: Scenario,
  stage: Stage,
): Promise<{ expected: string; observed: string; ok: boolean }[]> {
  const found = await scenario.play(stage)
  const observations = []
  for (const [what, expected] of Object.entries(scenario.expected(stage.scopes))) {
    const observed = what in found ? found[what] : await FACTS[what]?.(stage)
    const ok = observed === expected
    observations.push({ expected: `${what}: ${expected}`, observed: String(observed), ok })
  }
  return observations
}

const CALLERS = 100
/** The sandbox's short-lived tokens are valid for 1 s. */
const SHORT_LIFE_MS = 1_100

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'happy-path',
    title: 'Connect an account',
    expect:
      'The user allows everything. The app exchanges the code once, stores the tokens, and calls the API.',
    shows: ofKind('connect'),
    expected: () => ({ [FIRST]: 'active', [TEST]: '200', [EXCHANGES]: 1 }),
    async play(stage) {
      await stage.connect()
      return { [FIRST]: await stage.status(), [TEST]: await stage.callApi() }
    },
  },
  {
    name: 'denied',
    title: 'The user denies access',
    expect: 'The app says that access was not granted, exchanges nothing, and stores nothing.',
    shows: withOutcome('consent_denied'),
    expected: () => ({ [ANSWER]: 'consent_denied', [FIRST]: 'not connected', [EXCHANGES]: 0 }),
    async play(stage) {
      const page = await stage.connect({ answer: 'deny' })
      return { [ANSWER]: await stage.problemAt(page.url) }
    },
  },
  {
    name: 'missing-permission',
    title: 'One permission is left out',
    expect: 'The app is connected, names the permission that is missing, and offers to ask for it again.',
    shows: ofKind('connect'),
    expected: ([missing]) => ({ [FIRST]: 'needs_consent', 'Missing permission': missing }),
    async play(stage) {
      const [, ...granted] = stage.scopes
      await stage.connect({ granted })
      const connection = await stage.connection()
      return { 'Missing permission': connection?.missingScopes.join(', ') }
    },
  },
  {
    name: 'token-expires',
    title: 'The access token expires',
    expect: 'The API answers 401. The app refreshes once, with the same refresh token, and repeats the call.',
    shows: ofKind('api_call'),
    expected: () => ({ [TEST]: '200', [API_ANSWERS]: '401, 200', [REFRESHES]: 1, [REFRESH_TOKEN]: 'same' }),
    async play(stage) {
      await stage.connect()
      await stage.expire()
      return { [TEST]: await stage.callApi() }
    },
  },
  {
    name: 'hundred-callers',
    title: '100 callers at the moment of expiry',
    expect: 'One caller refreshes, 99 wait for its result, and all of them get the same token.',
    shows: ofKind('refresh'),
    expected: () => ({ 'Callers that got a token': CALLERS, 'Different tokens': 1, [REFRESHES]: 1 }),
    async play(stage) {
      await stage.fault('exchange', 'short_lived')
      await stage.connect()
      await pause(SHORT_LIFE_MS)
      const results = await stage.callVault(CALLERS)
      const tokens = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      return { 'Callers that got a token': tokens.length, 'Different tokens': new Set(tokens).size }
    },
  },
  {
    name: 'revoked',
    title: 'Access is revoked on the platform',
    expect:
      'The next call notices it. The app deletes the tokens, says when and why, and offers to reconnect.',
    shows: ofKind('revocation'),
    expected: () => ({ [TEST]: 'connection_revoked', [FIRST]: 'revoked', [REFRESHES]: 1 }),
    async play(stage) {
      await stage.connect()
      await stage.revoke()
      return { [TEST]: await stage.callApi() }
    },
  },
  {
    name: 'outage',
    title: 'The token endpoint is down',
    expect: 'The call fails, the connection is kept and shown as degraded, and it recovers by itself.',
    shows: withStep('token_refresh'),
    expected: () => ({
      'API call during the outage': 'platform_unavailable',
      [`${FIRST} during the outage`]: 'degraded',
      'API call after the outage': '200',
      [FIRST]: 'active',
    }),
    async play(stage) {
      await stage.connect()
      await stage.expire()
      await stage.fault('refresh', '500')
      const during = await stage.callApi()
      const degraded = await stage.status()
      await pause(BACKOFF_MS)
      return {
        'API call during the outage': during,
        [`${FIRST} during the outage`]: degraded,
        'API call after the outage': await stage.callApi(),
      }
    },
  },
  {
    name: 'rate-limited',
    title: 'The platform answers 429',
    expect: 'The app waits as long as the platform asks for (Retry-After), and repeats the call.',
    shows: ofKind('api_call'),
    expected: () => ({ [TEST]: '200', [API_ANSWERS]: '429, 200', [REFRESHES]: 0 }),
    async play(stage) {
      await stage.connect()
      // Whichever the app calls first; the sandbox ignores an endpoint that it does not have.
      for (const endpoint of stage.scopes) await stage.fault(endpoint, '429')
      return { [TEST]: await stage.callApi() }
    },
  },
  {
    name: 'callback-twice',
    title: 'The callback is opened twice',
    expect: 'The code is exchanged once. The second time, the app shows the outcome of the first.',
    shows: ofKind('connect'),
    expected: () => ({ 'The second time leads to': '/connections', [FIRST]: 'active', [EXCHANGES]: 1 }),
    async play(stage) {
      const callback = await stage.consent(await stage.chooseBusiness())
      await stage.open(callback)
      const second = await stage.open(callback)
      return { 'The second time leads to': new URL(second.url).pathname }
    },
  },
  {
    name: 'foreign-state',
    title: 'A callback with a foreign state',
    expect: 'Somebody else’s answer is refused before its code is sent anywhere. Nothing is stored.',
    shows: withOutcome('invalid_state'),
    expected: () => ({ [ANSWER]: 'invalid_state', [FIRST]: 'not connected', [EXCHANGES]: 0 }),
    async play(stage) {
      const callback = new URL(await stage.consent(await stage.chooseBusiness()))
      callback.searchParams.set('state', 'a-state-that-this-browser-never-sent')
      const page = await stage.open(callback.href)
      return { [ANSWER]: await stage.problemAt(page.url) }
    },
  },
  {
    name: 'planted-bxcontext',
    title: 'A planted bxcontext',
    expect: 'A link brings a bxcontext although the user started nothing. The app refuses it.',
    shows: withOutcome('missing_authorization_request'),
    expected: () => ({
      [ANSWER]: 'missing_authorization_request',
      [SECOND]: 'not connected',
      [EXCHANGES]: 0,
    }),
    async play(stage) {
      const { bxcontext } = stage.platform.startPage
      return { [ANSWER]: await stage.problemAt(`${stage.bxcontextUrl}?${bxcontext}=${OTHER_BUSINESS}`) }
    },
  },
  {
    name: 'other-business',
    title: 'Another business is chosen when reconnecting',
    expect: 'The app notices that it is not the business to reconnect, and asks before it stores anything.',
    shows: withStep('confirm_bxcontext'),
    expected: () => ({
      'The app asks at': '/connect/confirm',
      [FIRST]: 'active',
      [SECOND]: 'not connected',
    }),
    async play(stage) {
      await stage.connect()
      const page = await stage.open(await stage.chooseBusiness(OTHER_BUSINESS, BUSINESS))
      return { 'The app asks at': new URL(page.url).pathname.split('/', 3).join('/') }
    },
  },
  {
    name: 'two-tabs',
    title: 'Two tabs at once',
    expect: 'Two connect flows run side by side in one browser. Each ends in its own connection.',
    shows: ofKind('connect'),
    expected: () => ({ [FIRST]: 'active', [SECOND]: 'active', [EXCHANGES]: 2 }),
    async play(stage) {
      const firstCallback = await stage.consent(await stage.chooseBusiness(BUSINESS))
      const secondCallback = await stage.consent(await stage.chooseBusiness(OTHER_BUSINESS))
      await stage.open(secondCallback)
      await stage.open(firstCallback)
      return {}
    },
  },
]
