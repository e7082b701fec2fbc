import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readReport } from '../../../src/features/first-contact/consent/report.ts'
import firstContact from '../../../src/features/first-contact/index.ts'
import { remembered } from '../../../src/features/first-contact/page.ts'
import { type SetupState, stepsOf } from '../../../src/features/first-contact/steps.ts'
import type { Finding } from '../../../src/web/kit.ts'
import { sharedApp } from '../../support/app.ts'
import { tempDir } from '../../support/env.ts'
import { newUser, signedIn } from '../../support/flow.ts'
import { createVisitor } from '../../support/visitor.ts'

const app = await sharedApp()

describe('the page for developers', () => {
  let text: string
  beforeAll(async () => {
    const visitor = await signedIn(app, newUser())
    text = (await visitor.get(`${app.url}/setup`)).text
  })

  test('shows what is next, what the doctor finds, and the registration sheet of this app, without a secret', () => {
    expect(text).toMatch(/id="step-demo" aria-current="step"/)
    expect(text).toContain('everything is fine')
    expect(text).toContain('/auth/oauth/token accepts them')
    for (const path of ['context', 'callback']) expect(text).toContain(`${app.url}/connect/${path}`)
    expect(text).not.toContain(app.config.platform.clientSecret)
  })

  test('needs a signed-in user', async () => {
    const visitor = createVisitor()
    expect((await visitor.get(`${app.url}/setup`, { accept: 'application/json' })).status).toBe(401)
  })

  test('is not there in production', () => {
    const config = { ...app.config, environment: 'production' as const }
    expect(firstContact.create({ ...app.services.deps, config })).toEqual({})
  })
})

describe('the checks of the page', () => {
  const finding: Finding = { id: 'x', status: 'ok', text: 'fine' }

  test('run at most once a minute, however many pages ask', async () => {
    let now = 0
    let runs = 0
    const check = remembered(
      async () => [{ ...finding, text: String(++runs) }],
      () => now,
    )
    expect(await Promise.all([check(), check()])).toEqual([await check(), await check()])
    expect(runs).toBe(1)
    now = 60_001
    expect(await check()).toEqual([{ ...finding, text: '2' }])
  })

  test('that fail are a finding', async () => {
    const check = remembered(() => Promise.reject(new Error('no memory')))
    expect(await check()).toMatchObject([{ id: 'check.failed', status: 'failure' }])
  })
})

test('the report of a consent counts if it is of this platform', () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'doctor-report.json')
  expect(readReport('https://api.example', file)).toBeUndefined()
  const findings = [{ id: 'x', status: 'ok', text: 'x' }]
  writeFileSync(file, JSON.stringify({ platform: { apiUrl: 'https://api.example' }, findings }))
  expect(readReport('https://api.example', file)).toEqual(findings)
  expect(readReport('https://other.example', file)).toBeUndefined()
  remove()
})

describe('the steps', () => {
  const START: SetupState = {
    isSandbox: true,
    hasConnection: false,
    hasOwnSignIn: false,
    findings: [],
    compared: undefined,
  }
  const nextOf = (state: Partial<SetupState>) =>
    stepsOf({ ...START, ...state }).find(({ status }) => status === 'next')?.id
  const FAILURE: Finding = { id: 'x', status: 'failure', text: 'x' }
  const WARNING: Finding = { id: 'x', status: 'warning', text: 'x' }
  const REAL = { isSandbox: false, hasConnection: true }

  test.each<[Partial<SetupState>, string]>([
    [{}, 'demo'],
    [{ hasConnection: true }, 'registration'],
    [{ ...REAL, findings: [FAILURE] }, 'credentials'],
    [REAL, 'contract'],
    [{ ...REAL, compared: [FAILURE] }, 'contract'],
    [{ ...REAL, compared: [WARNING] }, 'sign-in'],
    [{ ...REAL, compared: [WARNING], hasOwnSignIn: true }, 'pages'],
  ])('after %o comes %s', (state, next) => {
    expect(nextOf(state)).toBe(next)
  })
})
