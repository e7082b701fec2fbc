import { Router } from 'express'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { PasswordAccounts } from '../../src/web/password-accounts.ts'
import { passwordSignIn } from '../../src/web/password-sign-in.ts'
import { isUserId, signIn } from '../../src/web/user.ts'
import { type Running, startAll } from '../support/app.ts'
import { testEnv } from '../support/env.ts'
import { connectionsOf, toCallback } from '../support/flow.ts'
import { command } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'

describe('an app with a sign-in of its own', () => {
  let app: Running
  let accounts: PasswordAccounts
  beforeAll(async () => {
    app = await startAll({}, {}, undefined, passwordSignIn)
    accounts = new PasswordAccounts(app.services.store)
    await accounts.create('Ann@ridgeline.example', 'correct horse')
  })
  afterAll(() => app.close())

  const enter = async (password: string, returnTo = '', email = 'ann@ridgeline.example') => {
    const visitor = createVisitor()
    const form = { email, password }
    return { visitor, answer: await visitor.post(`${app.url}/sign-in${returnTo}`, { form }) }
  }

  test('shows a link to it where the demo has its form: on the start page and a 401', async () => {
    const visitor = createVisitor()
    const pages = [await visitor.get(app.url), await visitor.get(`${app.url}/connections`)]
    for (const { text } of pages) {
      expect(text).toMatch(/<a class="button primary" href="\/sign-in/)
      expect(text).not.toMatch(/no password needed|name="name"/)
    }
    expect(pages[1]?.text).toContain('href="/sign-in?returnTo=%2Fconnections"')
  })

  test('signs in by email and password, and returns to the page that asked for it', async () => {
    const { visitor, answer: entered } = await enter('correct horse', '?returnTo=/connections')
    const answer = await visitor.get(app.url + entered.headers.get('location'))
    expect(answer.headers.get('location')).toBe('/connections')
    expect((await visitor.get(`${app.url}/connections`)).text).toContain('class="who">Ann@ridgeline.example<')
    await visitor.post(`${app.url}/sign-out`)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  })

  test('tells a browser that keeps no cookie so after the sign-in', async () => {
    const { answer } = await enter('correct horse')
    const page = await createVisitor().get(app.url + answer.headers.get('location'))
    expect(page.text).toContain('Your browser blocks cookies')
  })

  test('refuses a wrong password and an unknown address alike, with the form and the address in it', async () => {
    for (const form of [
      { email: 'ann@ridgeline.example', password: 'wrong one' },
      { email: 'bob@ridgeline.example', password: 'correct horse' },
    ]) {
      const { status, text } = await createVisitor().post(`${app.url}/sign-in`, { form })
      expect(status).toBe(401)
      expect(text).toContain('The email address or the password is wrong.')
      expect(text).toContain(`value="${form.email}"`)
      expect(text).not.toContain(form.password)
    }
  })

  test('after ten wrong passwords in a row answers 429, also to the right one, and the form says for how long', async () => {
    const email = 'eve@ridgeline.example'
    await accounts.create(email, 'correct horse')
    for (let times = 0; times < 10; times++) expect((await enter('wrong', '', email)).answer.status).toBe(401)
    const { answer } = await enter('correct horse', '', email)
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(14 * 60)
    expect(answer.text).toContain('Too many sign-ins have failed. Please try again in 15 minutes.')
    expect(answer.text).toContain(`value="${email}"`)
    expect((await enter('correct horse')).answer.status).toBe(303)
  })

  test('repeats no password on the error page of a sign-in that failed', async () => {
    vi.spyOn(app.services.store, 'get').mockRejectedValue(new StoreUnavailableError('a fault'))
    const { answer } = await enter('correct horse')
    vi.restoreAllMocks()
    expect(answer.status).toBe(503)
    expect(answer.text).not.toContain('correct horse')
  })

  test('never replaces an account: its id owns connections', async () => {
    expect(await accounts.create('ANN@ridgeline.example', 'another')).toBe(false)
    expect((await enter('correct horse')).answer.status).toBe(303)
  })

  test('knows an account by its address, and its address by the id of its user, until it is deleted', async () => {
    await accounts.create('Dora@ridgeline.example', 'correct horse')
    const { id = '' } = (await accounts.find('dora@ridgeline.example')) ?? {}
    const { signIn } = app.services
    expect(await signIn.emailOf(id)).toBe('Dora@ridgeline.example')
    expect(await signIn.exportUser(id)).toEqual({ id, email: 'Dora@ridgeline.example' })
    await signIn.deleteUser(id)
    expect(await signIn.emailOf(id)).toBeNull()
    expect(await signIn.exportUser(id)).toBeNull()
    expect((await enter('correct horse', '', 'dora@ridgeline.example')).answer.status).toBe(401)
    expect((await enter('correct horse')).answer.status).toBe(303)
  })

  test('signs in whom npm run accounts has created, with the last password that it printed, until it removes the account', async () => {
    const addresses = {
      PLATFORM_APP_URL: app.platform,
      PLATFORM_AUTH_URL: app.platform,
      PLATFORM_API_URL: app.platform,
    }
    const env = testEnv({ ...addresses, DATA_DIR: app.config.dataDir })
    const run = (...args: string[]) => command('src/cli/accounts.ts', env, { args })
    const email = 'cleo@ridgeline.example'
    const passwordIn = ({ output }: { output: string }) => /(?<= password )\S+/.exec(output)?.[0] ?? ''
    const first = passwordIn(await run('create', email))
    expect((await enter(first, '', email)).answer.status).toBe(303)
    const second = passwordIn(await run('password', email))
    expect((await enter(first, '', email)).answer.status).toBe(401)
    expect((await enter(second, '', email)).answer.status).toBe(303)
    expect(await run('create', email)).toEqual({
      code: 1,
      output: `There is an account of ${email} already.\n`,
    })
    const { id } = (await accounts.find(email)) ?? {}
    expect((await run('find', 'CLEO@ridgeline.example')).output).toBe(`${id}\t${email}\n`)
    expect(await run('remove', email, '--yes')).toMatchObject({ code: 0 })
    expect((await enter(second, '', email)).answer.status).toBe(401)
  })

  test('signs nobody in by the form of the demo', async () => {
    const visitor = createVisitor()
    expect((await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })).status).toBe(401)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  })
})

// docs/teams.md. A test of recipes does the same with OpenID Connect.
test('two people for whom it returns one id have one connection, which stays when the one who made it leaves', async () => {
  const members: Record<string, string> = { ann: 'acme', bob: 'acme', cy: 'other' }
  const app = await startAll({}, {}, undefined, (options) => ({
    ...passwordSignIn(options),
    routes: Router().get('/sign-in', async (req, res) => {
      const name = String(req.query.name)
      const companyId = members[name]
      if (!companyId) throw new Error('a member without a company cannot sign in')
      await signIn(req, { id: `company:${companyId}`, name })
      res.redirect('/')
    }),
  }))
  const enter = async (name: string) => {
    const visitor = createVisitor()
    const { status } = await visitor.get(`${app.url}/sign-in?name=${name}`)
    return { visitor, status }
  }
  const { visitor: ann } = await enter('ann')
  await ann.get(await toCallback(app, ann))
  const { visitor: bob } = await enter('bob')
  expect((await bob.get(`${app.url}/connections`)).text).toContain('class="who">bob<')
  expect(await connectionsOf(app, bob)).toEqual(await connectionsOf(app, ann))
  expect(await connectionsOf(app, bob)).toMatchObject([{ bxcontext: 'harbour-homes', status: 'active' }])
  expect(await connectionsOf(app, (await enter('cy')).visitor)).toEqual([])

  delete members.ann
  expect((await enter('ann')).status).toBe(500)
  expect(await connectionsOf(app, ann)).toHaveLength(1)
  const test = await bob.post(`${app.url}/connections/harbour-homes/test`, { accept: 'application/json' })
  expect(test.json()).toMatchObject({ ok: true })
  await app.close()
})

test.each([
  ['undefined', undefined],
  ['empty', ''],
  ['a number', 7],
  ['with NUL', 'a\u0000b'],
  ['with a lone surrogate', 'a\ud800'],
  ['of 2,000 characters', 'x'.repeat(2_000)],
])('no user can have an id that is %s', (_what, id) => {
  expect(isUserId(id)).toBe(false)
})

test('signIn refuses an invalid id; the log says why, and nobody is signed in', async () => {
  const app = await startAll({}, {}, undefined, (options) => ({
    ...passwordSignIn(options),
    routes: Router().get('/sign-in', async (req, res) => {
      await signIn(req, { id: '', name: 'Ann' })
      res.redirect('/')
    }),
  }))
  const visitor = createVisitor()
  const answer = await visitor.get(`${app.url}/sign-in`, { accept: 'application/json' })
  expect(answer.json()).toMatchObject({ status: 500, code: 'internal_error' })
  expect(answer.text).not.toContain('user.id')
  expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  await app.close()
  expect(app.logLines.find((line) => line.includes('"status":500'))).toMatch(
    /user\.id must be 1 to 1024 characters/,
  )
})
