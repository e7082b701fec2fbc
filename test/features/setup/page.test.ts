import { beforeAll, describe, expect, test } from 'vitest'
import setup from '../../../src/features/setup/index.ts'
import { type SetupState, stepsOf } from '../../../src/features/setup/page.ts'
import { sharedApp } from '../../support/app.ts'
import { newUser, signedIn } from '../../support/flow.ts'
import { createVisitor } from '../../support/visitor.ts'

const app = await sharedApp()

describe('the page for developers', () => {
  let text: string
  beforeAll(async () => {
    const visitor = await signedIn(app, newUser())
    text = (await visitor.get(`${app.url}/setup`)).text
  })

  test('shows what is next, and the registration sheet of this app, without a secret', () => {
    expect(text).toMatch(/id="step-demo" aria-current="step"/)
    for (const path of ['context', 'callback']) expect(text).toContain(`${app.url}/connect/${path}`)
    expect(text).not.toContain(app.config.platform.clientSecret)
  })

  test('needs a signed-in user', async () => {
    const visitor = createVisitor()
    expect((await visitor.get(`${app.url}/setup`, { accept: 'application/json' })).status).toBe(401)
  })

  test('is not there in production', async () => {
    const config = { ...app.config, environment: 'production' as const }
    expect(await setup.create({ ...app.services.deps, config })).toEqual({})
  })
})

test.each<[SetupState, done: string[], next: string]>([
  [{ isSandbox: true, hasConnection: false, hasOwnSignIn: false }, [], 'demo'],
  [{ isSandbox: true, hasConnection: true, hasOwnSignIn: false }, ['demo'], 'registration'],
  [
    { isSandbox: false, hasConnection: false, hasOwnSignIn: true },
    ['demo', 'registration', 'sign-in'],
    'connect',
  ],
  [
    { isSandbox: false, hasConnection: true, hasOwnSignIn: true },
    ['demo', 'registration', 'connect', 'sign-in'],
    'pages',
  ],
])('with %o, the steps %j are done, and %s is next', (state, done, next) => {
  const steps = stepsOf(state)
  expect(steps.filter(({ status }) => status === 'done').map(({ id }) => id)).toEqual(done)
  expect(steps.find(({ status }) => status === 'next')?.id).toBe(next)
})
