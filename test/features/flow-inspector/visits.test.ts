import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { logIn, newUser, signedIn, toCallback } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'
import { latestFlow } from './support.ts'

const app = await sharedApp()
let ann: Visitor
beforeEach(async () => {
  ann = await signedIn(app, newUser())
})

/** The steps of the browser in the latest flow with this outcome: where it came from, or where it was sent. */
async function visitsOf(outcome: string) {
  const { steps } = await latestFlow(app, ann, 'connect', outcome)
  const ofBrowser = steps.filter(
    ({ from, to }) => [from, to].includes('browser') && [from, to].includes('app'),
  )
  return ofBrowser.map(({ topic, request, response, failure }) => {
    const location = response?.headers.find(({ name }) => name === 'location')?.value
    const place = URL.parse(location ?? request?.url ?? '')?.pathname
    return [topic, place, response?.status, failure].filter(Boolean).join(' ')
  })
}

test('a consent that is denied is recorded up to the page that says so', async () => {
  await ann.get(await toCallback(app, ann, { form: { answer: 'deny' } }))
  expect(await visitsOf('consent_denied')).toEqual([
    'connect_started /connect',
    'to_start_page /oauth2.html 200',
    'bxcontext_received /connect/context',
    'to_consent_page /auth/authorize 303',
    'callback_received /connect/callback',
    'flow_failed /connect/failed 303 consent_denied',
  ])
})

test('another business that comes back is recorded with the question of the app, and its answer', async () => {
  await ann.post(`${app.url}/connect`, { form: { bxcontext: 'summit-supplies' } })
  // Steps are ordered by their time in milliseconds, and a person takes longer for each.
  await pause(5)
  const asked = await ann.get(`${app.url}/connect/context?bxcontext=ridgeline-build`)
  await logIn(app, ann, 'marcus@ridgeline.example')
  const question = new URL(asked.headers.get('location') ?? '', app.url)
  await pause(5)
  const consent = await ann.follow(await ann.post(question.href))
  await ann.follow(await ann.post(consent.url, { form: { answer: 'deny' } }))
  expect((await visitsOf('consent_denied')).slice(2, 6)).toEqual([
    'bxcontext_received /connect/context',
    `confirm_bxcontext ${question.pathname} 303`,
    `confirm_bxcontext ${question.pathname}`,
    'to_consent_page /auth/authorize 200',
  ])
})

test.each([
  [
    'a bxcontext that nobody asked for',
    '/connect/context?bxcontext=planted',
    'missing_authorization_request',
  ],
  ['a callback that belongs to no flow', '/connect/callback?code=c&state=unknown', 'invalid_state'],
])('%s is recorded as refused', async (_what, path, failure) => {
  await ann.get(app.url + path)
  const [arrived, refused] = await visitsOf(failure)
  expect(arrived).toContain(path.split('?')[0])
  expect(refused).toMatch(new RegExp(`^flow_failed .*${failure}$`))
})

test.each(['constructor=abcdefgh', '__proto__=x', '=x', 'a:b=1', `${'n'.repeat(300)}=1`])(
  'a callback with the parameter %s is recorded like any other',
  async (parameter) => {
    await ann.get(`${app.url}/connect/callback?code=c&state=s&${parameter}`)
    const { steps } = await latestFlow(app, ann, 'connect', 'invalid_state')
    expect(steps[0]?.request?.parameters).toHaveLength(3)
  },
)
