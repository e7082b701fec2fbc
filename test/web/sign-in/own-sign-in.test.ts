import { Router } from 'express'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isUserId, signIn } from '../../../src/web/sign-in/user.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { connectionsOf, toCallback } from '../../support/flow.ts'
import { ownSignIn } from '../../support/own-sign-in.ts'
import { shown } from '../../support/pages.ts'
import { createVisitor } from '../../support/visitor.ts'

describe('an app with a sign-in of its own', () => {
  let app: Running
  beforeAll(async () => {
    app = await startAll({}, {}, undefined, ownSignIn)
  })
  afterAll(() => app.close())

  const enter = async (returnTo = '') => {
    const visitor = createVisitor()
    const form = { email: 'ann@ridgeline.example' }
    return { visitor, answer: await visitor.post(`${app.url}/sign-in${returnTo}`, { form }) }
  }

  test('shows a link to it where the demo has its form: on the start page and a 401', async () => {
    const visitor = createVisitor()
    const pages = [await visitor.get(app.url), await visitor.get(`${app.url}/connections`)]
    for (const { text } of pages) {
      expect(text).toMatch(/<a class="button primary" href="\/sign-in/)
      for (const demo of [shown(texts.signIn.demo), 'name="name"']) expect(text).not.toContain(demo)
    }
    expect(pages[1]?.text).toContain('href="/sign-in?returnTo=%2Fconnections"')
  })

  test('signs in, and returns to the page that asked for it, until the sign-out', async () => {
    const { visitor, answer: entered } = await enter('?returnTo=/connections')
    const answer = await visitor.get(app.url + entered.headers.get('location'))
    expect(answer.headers.get('location')).toBe('/connections')
    expect((await visitor.get(`${app.url}/connections`)).text).toContain('class="who">ann@ridgeline.example<')
    await visitor.post(`${app.url}/sign-out`)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  })

  test('tells a browser that keeps no cookie so after the sign-in', async () => {
    const { answer } = await enter()
    const page = await createVisitor().get(app.url + answer.headers.get('location'))
    expect(page.text).toContain(shown(texts.signIn.cookiesBlocked))
  })

  test('signs nobody in by the form of the demo', async () => {
    const visitor = createVisitor()
    expect((await visitor.post(`${app.url}/sign-in`, { form: { name: 'ann' } })).status).toBe(400)
    expect((await visitor.get(`${app.url}/connections`)).status).toBe(401)
  })
})

// As in docs/guides.md, "Connections that a team shares". A test of its examples does the same with OpenID Connect.
test('two people for whom it returns one id have one connection, which stays when the one who made it leaves', async () => {
  const members: Record<string, string> = { ann: 'acme', bob: 'acme', cy: 'other' }
  const app = await startAll({}, {}, undefined, async (options) => ({
    ...(await ownSignIn(options)),
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
  const app = await startAll({}, {}, undefined, async (options) => ({
    ...(await ownSignIn(options)),
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
