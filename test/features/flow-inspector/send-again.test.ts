import { beforeAll, describe, expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { connected, newUser } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'
import { latestFlow, latestRefresh, type ShownFlow, stepsOf } from './support.ts'

const app = await sharedApp()
let user: string
let visitor: Visitor
beforeAll(async () => {
  user = newUser()
  visitor = await connected(app, { name: user })
})

/** The sandbox's page to which the page of a token request links. */
async function pageOf(flow: ShownFlow, topic: string): Promise<string> {
  const [step] = stepsOf(flow, topic)
  const { text } = await visitor.get(`${app.url}/flows/${flow.id}/steps/${step?.number}`)
  const [, link = ''] = /href="([^"]+)"[^>]*>Edit and send again</.exec(text) ?? []
  expect(link).toMatch(`${app.platform}/sandbox/requests/`)
  return link
}

/** Presses one of the page's buttons; resolves to the page that follows. */
async function press(page: string, label: string): Promise<string> {
  const { text } = await visitor.get(page)
  const form = [...text.matchAll(/<form[\s\S]*?<\/form>/g)].find(([html]) => html.includes(`>${label}<`))?.[0]
  expect(form, label).toBeDefined()
  const fields = [...(form ?? '').matchAll(/name="(\w+)"[^>]*value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    value,
  ])
  return (await visitor.follow(await visitor.post(page, { form: Object.fromEntries(fields) }))).text
}

const refresh = () =>
  visitor.post(`${app.url}/connections/harbour-homes/refresh`, { accept: 'application/json' })

const answerNow = (text: string) => /The answer now[\s\S]*?(\d{3})<\/span>/.exec(text)?.[1]

describe('a code exchange that is sent again', () => {
  test.each([
    ['A wrong verifier', 'RFC 7636 section 4.6'],
    ['Another bxcontext', 'specification 5.3.6'],
    ['Another redirect URI', 'RFC 6749 section 4.1.3'],
  ])('with the change “%s” is refused by %s, and the connection keeps working', async (label, rule) => {
    const page = await pageOf(await latestFlow(app, visitor, 'connect'), 'code_exchange')
    const text = await press(page, label)
    expect(answerNow(text)).toBe('400')
    expect(text).toMatch(/The answer now[\s\S]*invalid_grant[\s\S]*The first answer[\s\S]*200</)
    expect(/class="rule">[^<]*/.exec(text)?.[0]).toContain(rule)
    expect((await visitor.get(`${app.url}/connections/harbour-homes/probe`)).status).toBe(200)
  })

  test('with a wrong client secret is refused', async () => {
    const page = await pageOf(await latestFlow(app, visitor, 'connect'), 'code_exchange')
    const text = await press(page, 'A wrong client secret')
    expect(answerNow(text)).toBe('401')
    expect(text).toMatch(/invalid_client[\s\S]*RFC 6749 section 3\.2\.1/)
  })

  test('unchanged gets tokens by a fresh code; no secret is on the page', async () => {
    const page = await pageOf(await latestFlow(app, visitor, 'connect'), 'code_exchange')
    const text = (await visitor.follow(await visitor.post(page, { form: {} }))).text
    expect(answerNow(text)).toBe('200')
    expect(text).toMatch(/access_token<\/dt><dd>a secret of \d+ characters/)
    const stored = await app.services.connect.vault.accessToken({ userId: user, bxcontext: 'harbour-homes' })
    for (const secret of [stored, app.config.platform.clientSecret]) expect(text).not.toContain(secret)
  })

  test('with its code a second time ends the access that the code gave', async () => {
    visitor = await connected(app, { name: newUser() })
    const page = await pageOf(await latestFlow(app, visitor, 'connect'), 'code_exchange')
    expect(await press(page, 'The code a second time')).toMatch(
      /invalid_grant[\s\S]*RFC 6749 section 4\.1\.2/,
    )
    expect((await refresh()).json().code).toBe('connection_revoked')
  })
})

test('a refresh can be sent again: the same refresh token works, for its own business only', async () => {
  visitor = await connected(app, { name: newUser() })
  await refresh()
  const page = await pageOf(await latestRefresh(app, visitor), 'token_refresh')
  expect(answerNow(await press(page, 'The same refresh token again'))).toBe('200')
  expect(await press(page, 'Another bxcontext')).toMatch(/400<[\s\S]*specification 5\.3\.6/)
})

test('a request that the sandbox does not know is named', async () => {
  const answer = await visitor.get(`${app.platform}/sandbox/requests/unknown`)
  expect(answer.status).toBe(404)
  expect(answer.text).toContain('The sandbox does not know this request')
})
