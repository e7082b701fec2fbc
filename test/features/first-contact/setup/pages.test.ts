import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createDoctorRuns } from '../../../../src/features/first-contact/doctor-runs.ts'
import firstContact from '../../../../src/features/first-contact/index.ts'
import { readProbeReport, type SetupState, stepsOf } from '../../../../src/features/first-contact/steps.ts'
import type { Finding } from '../../../../src/features/tools.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { tempDir } from '../../../support/env.ts'
import { signedIn } from '../../../support/flow.ts'
import { createVisitor, type Visitor } from '../../../support/visitor.ts'

const JSON_TYPE = { accept: 'application/json' }

describe('the pages for developers', () => {
  let app: Running
  let visitor: Visitor
  beforeAll(async () => {
    app = await startAll()
    visitor = await signedIn(app)
  })
  afterAll(() => app.close())

  test('the doctor finds no problem in the sandbox, on the page and as JSON', async () => {
    const { findings } = (await visitor.get(`${app.url}/doctor`, JSON_TYPE)).json()
    expect(findings.filter(({ status }: Finding) => status !== 'ok')).toEqual([])
    const page = await visitor.get(`${app.url}/doctor`)
    expect(page.text).toContain('Everything is fine.')
    expect(page.text).toContain('/auth/oauth/token accepts them')
  })

  test('setup shows what is next, and the steps as JSON', async () => {
    const { steps } = (await visitor.get(`${app.url}/setup`, JSON_TYPE)).json()
    expect(steps[0]).toMatchObject({ id: 'demo', status: 'next' })
    const page = await visitor.get(`${app.url}/setup`)
    expect(page.text).toContain('aria-current="step"')
  })

  test('the registration has the redirect urls of this app', async () => {
    const page = await visitor.get(`${app.url}/registration`)
    expect(page.text).toContain(`${app.url}/connect/context`)
    expect(page.text).toContain(`${app.url}/connect/callback`)
  })

  test.each(['/setup', '/doctor', '/doctor/live', '/registration'])(
    '%s needs a signed-in user',
    async (path) => {
      expect((await createVisitor().get(app.url + path, JSON_TYPE)).status).toBe(401)
    },
  )

  test('in production there are none of these pages', async () => {
    const config = { ...app.config, production: true }
    const settings = { appName: '', logoUrl: undefined, stagingUrl: undefined, productionUrl: undefined }
    expect(firstContact.create({ ...app.services.deps, config }, settings)).toEqual({})
  })

  test('no page has a secret', async () => {
    const { clientSecret } = app.config.platform
    for (const path of ['/setup', '/doctor', '/registration'])
      expect((await visitor.get(app.url + path)).text).not.toContain(clientSecret)
  })
})

test('the doctor runs once, however many pages ask', async () => {
  let runs = 0
  const doctor = createDoctorRuns(async function* () {
    runs++
    yield { id: 'x', status: 'ok', text: 'fine' } as const
  })
  expect(doctor.latest()).toBeUndefined()
  await Promise.all([doctor.run(), doctor.run()])
  await vi.waitFor(() => expect(doctor.isRunning).toBe(false))
  expect(doctor.latest()).toHaveLength(1)
  expect(runs).toBe(1)
})

test('the report of the probe counts if it is of this platform', () => {
  const { dir, remove } = tempDir()
  const file = join(dir, 'probe-report.json')
  expect(readProbeReport('https://api.example', file)).toBeUndefined()
  const results = [
    { status: 'confirmed' },
    { status: 'different', copes: false },
    { status: 'different', copes: true },
  ]
  writeFileSync(file, JSON.stringify({ platform: { apiUrl: 'https://api.example' }, results }))
  expect(readProbeReport('https://api.example', file)).toEqual({
    confirmed: 1,
    different: 2,
    notSeen: 0,
    breaking: 1,
  })
  expect(readProbeReport('https://other.example', file)).toBeUndefined()
  remove()
})

test('a doctor that fails is a finding', async () => {
  // biome-ignore lint/correctness/useYield: it fails before it finds anything
  const doctor = createDoctorRuns(async function* () {
    throw new Error('no memory')
  })
  expect(await doctor.run()).toMatchObject([{ id: 'check.failed', status: 'failure' }])
  expect(doctor.latest()).toHaveLength(1)
})

describe('the steps', () => {
  const START: SetupState = {
    isSandbox: true,
    hasConnection: false,
    hasOwnSignIn: false,
    findings: [],
    probe: undefined,
  }
  const nextOf = (state: Partial<SetupState>) =>
    stepsOf({ ...START, ...state }).find(({ status }) => status === 'next')?.id
  const FAILURE: Finding = { id: 'x', status: 'failure', text: 'x' }
  const REAL = { isSandbox: false, hasConnection: true }
  const PROBE = { confirmed: 30, different: 1, notSeen: 2, breaking: 0 }

  test.each<[Partial<SetupState>, string]>([
    [{}, 'demo'],
    [{ hasConnection: true }, 'registration'],
    [{ ...REAL, findings: undefined }, 'credentials'],
    [{ ...REAL, findings: [FAILURE] }, 'credentials'],
    [REAL, 'probe'],
    [{ ...REAL, probe: { ...PROBE, breaking: 1 } }, 'probe'],
    [{ ...REAL, probe: PROBE }, 'sign-in'],
    [{ ...REAL, probe: PROBE, hasOwnSignIn: true }, 'pages'],
  ])('after %o comes %s', (state, next) => {
    expect(nextOf(state)).toBe(next)
  })
})
