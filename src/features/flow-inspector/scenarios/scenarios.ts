import { setTimeout as pause } from 'node:timers/promises'
import { webTexts } from '../../../web/feature-api.ts'
import type { Flow, Kind, Summary, Topic } from '../flow.ts'
import { BACKOFF_MS, BUSINESS, OTHER_BUSINESS, type Stage } from './stage.ts'

/** A check in a scenario: its subject, the expected value and the observed value. */
export type Observation = [what: string, expected: unknown, observed: unknown]

export interface Scenario {
  /** The scenario's name in URLs. */
  name: string
  title: string
  /** A description of the events, and of the app's expected reaction. */
  expect: string
  /** Whether a flow demonstrates the scenario. */
  shows(summary: Summary, flow: Flow): boolean
  play(stage: Stage): Promise<Observation[]>
}

const ofKind = (kind: Kind) => (summary: Summary) => summary.kind === kind
const withOutcome = (outcome: string) => (summary: Summary) => summary.outcome === outcome
const withStep = (topic: Topic) => (_: Summary, flow: Flow) => flow.steps.some((step) => step.topic === topic)

const { status: BADGES } = webTexts
const FIRST = 'Demo Builders'
const SECOND = 'Demo Renovations'

const TEST = 'Testing the connection'
const ANSWER = 'The app answers'
const EXCHANGES = 'Code exchanges at the platform'
const REFRESHES = 'Refreshes at the platform'

const stepsOf = async (stage: Stage) => (await stage.flows()).flatMap(({ flow }) => flow.steps)

/** The answers of the API, in their order. */
async function apiAnswers(stage: Stage): Promise<string> {
  const calls = (await stepsOf(stage)).filter(({ topic }) => topic === 'api_call')
  return calls.map(({ response }) => response?.status ?? 'no answer').join(', ')
}

const CALLERS = 100
/** The sandbox's short-lived tokens are valid for 1 s. */
const SHORT_LIFE_MS = 1_100

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'happy-path',
    title: 'Connect a business',
    expect:
      'The user allows everything. The app exchanges the code once, stores the tokens, and calls the API.',
    shows: ofKind('connect'),
    async play(stage) {
      await stage.connect()
      return [
        [FIRST, BADGES.active, await stage.badge()],
        [TEST, '200', await stage.callApi()],
        [EXCHANGES, 1, await stage.tokenRequests('exchange')],
      ]
    },
  },
  {
    name: 'denied',
    title: 'The user denies access',
    expect: 'The app says that access was not granted, exchanges nothing, and stores nothing.',
    shows: withOutcome('consent_denied'),
    async play(stage) {
      const page = await stage.connect({ answer: 'deny' })
      return [
        [ANSWER, 'consent_denied', await stage.problemAt(page.url)],
        [FIRST, 'not connected', await stage.badge()],
        [EXCHANGES, 0, await stage.tokenRequests('exchange')],
      ]
    },
  },
  {
    name: 'missing-permission',
    title: 'One permission is left out',
    expect: 'The app is connected, names the permission that is missing, and offers to ask for it again.',
    shows: ofKind('connect'),
    async play(stage) {
      const [missing, ...granted] = stage.scopes
      await stage.connect({ granted })
      const connection = await stage.connection()
      return [
        [FIRST, BADGES.needs_consent, await stage.badge()],
        ['Missing permission', missing, connection?.missingScopes.join(', ')],
      ]
    },
  },
  {
    name: 'token-expires',
    title: 'The access token expires',
    expect: 'The API answers 401. The app refreshes once, and repeats the call.',
    shows: ofKind('api_call'),
    async play(stage) {
      await stage.connect()
      await stage.expire()
      return [
        [TEST, '200', await stage.callApi()],
        ['Answers of the API', '401, 200', await apiAnswers(stage)],
        [REFRESHES, 1, await stage.tokenRequests('refresh')],
      ]
    },
  },
  {
    name: 'hundred-callers',
    title: '100 callers at the moment of expiry',
    expect: 'One caller refreshes, 99 wait for its result, and all of them get the same token.',
    shows: ofKind('refresh'),
    async play(stage) {
      await stage.fault('exchange', 'short_lived')
      await stage.connect()
      await pause(SHORT_LIFE_MS)
      const results = await stage.callVault(CALLERS)
      const tokens = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      return [
        ['Callers that got a token', CALLERS, tokens.length],
        ['Different tokens', 1, new Set(tokens).size],
        [REFRESHES, 1, await stage.tokenRequests('refresh')],
      ]
    },
  },
  {
    name: 'revoked',
    title: 'Access is revoked on the platform',
    expect:
      'The next call notices it. The app says when and why, and offers to reconnect. It deletes the tokens when the platform has said so again, a minute later.',
    shows: ofKind('revocation'),
    async play(stage) {
      await stage.connect()
      await stage.revoke()
      return [
        [TEST, 'connection_revoked', await stage.callApi()],
        [FIRST, BADGES.revoked, await stage.badge()],
        [REFRESHES, 1, await stage.tokenRequests('refresh')],
      ]
    },
  },
  {
    name: 'outage',
    title: 'The token endpoint is down',
    expect:
      'The call fails, the connection is kept and shown as “Not working now”, and it recovers automatically.',
    shows: withStep('token_refresh'),
    async play(stage) {
      await stage.connect()
      await stage.expire()
      await stage.fault('refresh', '500')
      const during = await stage.callApi()
      const degraded = await stage.badge()
      await pause(BACKOFF_MS)
      return [
        ['API call during the outage', 'platform_unavailable', during],
        [`${FIRST} during the outage`, BADGES.degraded, degraded],
        ['API call after the outage', '200', await stage.callApi()],
        [FIRST, BADGES.active, await stage.badge()],
      ]
    },
  },
  {
    name: 'rate-limited',
    title: 'The platform answers 429',
    expect: 'The app waits as long as the platform asks for (Retry-After), and repeats the call.',
    shows: ofKind('api_call'),
    async play(stage) {
      await stage.connect()
      // The app may call any of the endpoints first. The sandbox ignores an endpoint that it does not have.
      for (const endpoint of stage.scopes) await stage.fault(endpoint, '429')
      return [
        [TEST, '200', await stage.callApi()],
        ['Answers of the API', '429, 200', await apiAnswers(stage)],
        [REFRESHES, 0, await stage.tokenRequests('refresh')],
      ]
    },
  },
  {
    name: 'foreign-state',
    title: 'A callback with a foreign state',
    expect: 'Someone else’s answer is refused before its code is sent anywhere. Nothing is stored.',
    shows: withOutcome('invalid_state'),
    async play(stage) {
      const callback = new URL(await stage.consent(await stage.chooseBusiness()))
      callback.searchParams.set('state', 'a-state-that-this-browser-never-sent')
      const page = await stage.open(callback.href)
      return [
        [ANSWER, 'invalid_state', await stage.problemAt(page.url)],
        [FIRST, 'not connected', await stage.badge()],
        [EXCHANGES, 0, await stage.tokenRequests('exchange')],
      ]
    },
  },
  {
    name: 'planted-bxcontext',
    title: 'A planted bxcontext',
    expect: 'A link brings a bxcontext although the user started nothing. The app refuses it.',
    shows: withOutcome('missing_authorization_request'),
    async play(stage) {
      const link = stage.contextUrl(OTHER_BUSINESS)
      return [
        [ANSWER, 'missing_authorization_request', await stage.problemAt(link)],
        [SECOND, 'not connected', await stage.badge(OTHER_BUSINESS)],
        [EXCHANGES, 0, await stage.tokenRequests('exchange')],
      ]
    },
  },
  {
    name: 'other-business',
    title: 'Another business is chosen when reconnecting',
    expect: 'The app notices that it is not the business to reconnect, and asks before it stores anything.',
    shows: withStep('confirm_bxcontext'),
    async play(stage) {
      await stage.connect()
      const page = await stage.open(await stage.chooseBusiness(OTHER_BUSINESS, BUSINESS))
      return [
        ['The app asks at', '/connect/confirm', new URL(page.url).pathname.split('/', 3).join('/')],
        [FIRST, BADGES.active, await stage.badge()],
        [SECOND, 'not connected', await stage.badge(OTHER_BUSINESS)],
      ]
    },
  },
]
