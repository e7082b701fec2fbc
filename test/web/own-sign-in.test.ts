import { Router } from 'express'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { createAccount, passwordSignIn } from '../../src/web/password-sign-in.ts'
import { isUserId, signIn } from '../../src/web/user.ts'
import { type Running, startAll } from '../support/app.ts'
import { command } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'

describe('an app with a sign-in of its own', () => {
  let app: Running
  beforeAll(async () => {
    app = await startAll({}, {}, undefined, undefined, passwordSignIn)
    await createAccount(app.services.store, 'Ann@ridgeline.example', 'correct horse')
  })
  afterAll(() => app.close())

  const enter = async (password: string, returnTo = '') => {
    const visitor = createVisitor()
    const form = { email: 'ann@ridgeline.example', password }
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
    const { visitor, answer } = await enter('correct horse', '?returnTo=/connections')
    expect(answer.headers.get('location')).toBe('/connections')
    expect((await visitor.get(`${app.url}/connections`)).text).toContain('class="who">Ann@ridgeline.example<')
    await visitor.post(`${app.url}/sign-out`)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
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

  test('repeats no password on the error page of a sign-in that failed', async () => {
    vi.spyOn(app.services.store, 'get').mockRejectedValue(new StoreUnavailableError('a fault'))
    const { answer } = await enter('correct horse')
    vi.restoreAllMocks()
    expect(answer.status).toBe(503)
    expect(answer.text).not.toContain('correct horse')
  })

  test('never replaces an account: its id owns connections', async () => {
    const { store } = app.services
    expect(await createAccount(store, 'ANN@ridgeline.example', 'another')).toBe(false)
    expect((await enter('correct horse')).answer.status).toBe(303)
  })

  test('signs in whom npm run create-account has created, with the password that it prints', async () => {
    const env = { DATA_DIR: app.config.dataDir }
    const create = (email: string) => command('src/cli/create-account.ts', env, { args: [email] })
    const { output } = await create('cleo@ridgeline.example')
    const [password = ''] = /(?<= password )\S+/.exec(output) ?? []
    const form = { email: 'cleo@ridgeline.example', password }
    expect((await createVisitor().post(`${app.url}/sign-in`, { form })).status).toBe(303)
    expect(await create('cleo@ridgeline.example')).toEqual({
      code: 1,
      output: 'There is an account of cleo@ridgeline.example already.\n',
    })
    expect((await create('cleo')).output).toContain('must be like ann@example.com')
  })

  test('signs nobody in by the form of the demo', async () => {
    const visitor = createVisitor()
    expect((await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })).status).toBe(401)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  })
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
  const app = await startAll({}, {}, undefined, undefined, () =>
    Router().get('/sign-in', async (req, res) => {
      await signIn(req, { id: '', name: 'Ann' })
      res.redirect('/')
    }),
  )
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
